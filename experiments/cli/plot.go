package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/metrics/findings"
	"github.com/gridslot/gridslot/metrics/results"
)

// listFigures writes names of figures with what they show.
func listFigures(w *strings.Builder, names, about []string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, name := range names {
		fmt.Fprintf(table, "  %s\t%s\n", name, about[i])
	}
	_ = table.Flush() // a Builder does not fail
}

// draw draws figures of a folder of simulations, or of a study. An argument with a "=" that is no
// figure with a setting limits what is shown: NAME=VALUE. Of several values of one name any will
// do.
func draw(dir string, args []string) ([]*figure.Figure, error) {
	var names []string
	var where []findings.Param
	for _, arg := range args {
		name, _, isParam := strings.Cut(arg, "=")
		if !isParam || strings.Contains(name, ":") {
			names = append(names, arg)
			continue
		}
		params, err := parseParams(arg)
		if err != nil {
			return nil, err
		}
		where = append(where, params...)
	}
	if isStudy(dir) {
		f, err := study.Conclude(dir, where...)
		if err != nil {
			return nil, err
		}
		return figure.DrawStudy(f, names...)
	}
	folder, err := results.Open(dir)
	if err != nil {
		return nil, err
	}
	var policies []string
	for _, p := range where {
		if p.Name != "policy" {
			return nil, enum.Unknown("parameter", p.Name, []string{"policy"})
		}
		policies = append(policies, p.Value)
	}
	if err := folder.Only(policies...); err != nil {
		return nil, err
	}
	return figure.Draw(folder, names...)
}

// plotting is one call of `gridslot plot`.
type plotting struct {
	format string
	out    string // folder; "" means the folder figures below the folder of the results
}

// newPlot is `gridslot plot`. Which figures a folder has data for, and what they show, is known to
// package figure; the command knows where they go.
func newPlot() *cobra.Command {
	var p plotting
	names, about := figure.Names()
	var list strings.Builder
	listFigures(&list, names, about)
	var studies strings.Builder
	ofStudies, about := figure.StudyNames()
	listFigures(&studies, ofStudies, about)
	cmd := &cobra.Command{
		Use:   "plot DIR [FIGURE...] [NAME=VALUE...]",
		Short: "Draw figures of results",
		Long: `Draw figures of the results of simulate --out DIR, for print: as wide as a column
(85 mm), with labels of 8 points, and colours and dashes that everybody can tell apart.
Without names plot draws every figure for which the folder has data:

` + list.String() + `
Figures of a study, the results of sweep STUDY.yaml --out DIR, one for each measure:

` + studies.String() + `
NAME=VALUE draws only rows with that value: policy=easy, or any parameter of a study.
Several values of one name: rows with any of them.`,
		Example: `  gridslot simulate KTH-SP2-1996-2.1-cln.swf.gz --policy fcfs,easy,conservative --out results
  gridslot plot results
  gridslot plot results wait-by-size policies --format pdf -o paper/figures
  gridslot plot results policy=easy policy=conservative
  gridslot plot study lines:y=log estimates=user`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			if isStudy(args[0]) {
				return ofStudies, cobra.ShellCompDirectiveNoFileComp
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: p.run,
	}
	choiceFlag(cmd, &p.format, "format", strings.Join(figure.Formats(), "|"), "of the files")
	cmd.Flags().StringVarP(&p.out, "out", "o", "", "folder for the files (default: DIR/figures)")
	_ = cmd.MarkFlagDirname("out") // it exists
	cmd.SetFlagErrorFunc(plotFlagError)
	return cmd
}

// run draws the figures that the arguments name, and prints the path of each when it is there.
func (p *plotting) run(cmd *cobra.Command, args []string) error {
	figures, err := draw(args[0], args[1:])
	var unknown *enum.UnknownError
	if errors.As(err, &unknown) {
		return usagef("%w", err)
	}
	if err != nil {
		return err
	}
	dir := p.out
	if dir == "" {
		if dir, err = outdir.Below(args[0], "figures"); err != nil {
			return err
		}
	}
	return saveFigures(cmd.Context(), dir, p.format, figures, func(path string) error {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), path)
		return err
	})
}

// plotFlagError tells who knows the flag --where of report --table what stands in its place here.
func plotFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedName() == "where" {
		return usagef("unknown flag: --where: values of parameters are arguments, as in gridslot plot study lines estimates=user")
	}
	return flagError(cmd, err)
}

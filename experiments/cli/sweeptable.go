package cli

// What the results of a study say: tables, and the files of findings.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/findings"
)

// asked is what flags ask of results.
type asked struct {
	options    findings.Options
	parameters []string
	baseline   []findings.Param
}

func (a *asked) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.options.Compare, "compare", "", "parameter whose values are compared (default: the study's, or policy)")
	parsedFlag(cmd, &a.baseline, "baseline", "", "NAME=VALUE,...", "what the others are compared with (default: the study's, or the first value)", optional(parseParams))
	f.Float64Var(&a.options.Level, "level", 0.95, "of intervals and tests")
	f.StringSliceVar(&a.parameters, "parameters", nil, "of a table of your own: columns that are parameters (default: those in front of the column seed)")
}

// parseParams reads policy=easy,load=0.7.
func parseParams(text string) (params []findings.Param, err error) {
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("want NAME=VALUE, or several with commas between them, not %q", text)
		}
		params = append(params, findings.Param{Name: name, Value: value})
	}
	return params, nil
}

// findings are those of a study's folder, or of any table in a file.
func (a *asked) findings(path string) (*findings.Findings, error) {
	o := a.options
	var table *findings.Table
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if table, err = findings.Read(f, path, a.parameters...); err != nil {
			return nil, err
		}
	} else {
		if table, err = findings.Open(path); err != nil {
			return nil, err
		}
		of, err := study.Options(path)
		if err != nil {
			return nil, err
		}
		o.Measures = of.Measures
		if o.Compare == "" && len(a.baseline) == 0 {
			o.Compare, o.Baseline = of.Compare, of.Baseline
		}
	}
	if len(a.baseline) > 0 {
		o.Baseline = a.baseline
	}
	return findings.Analyze(table, o)
}

// IsStudy reports whether a folder is that of a study.
func isStudy(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, sweep.PlanName))
	return err == nil
}

// conclude writes what the results in a study's folder say beside them. Where they do not
// tell yet, for want of the baseline's say, that is no failure of the runs.
func conclude(dir string, status sweep.Status, tell func(string, ...any)) error {
	if status.Done == 0 {
		return nil
	}
	f, err := study.Conclude(dir)
	if err != nil {
		tell("the results are not summed up: %v", err)
		return nil
	}
	for _, note := range f.Notes {
		tell("%s", note)
	}
	return f.Save(dir)
}

// studyTables are the tables that flags ask for, of a study's folder or of any table of runs.
type studyTables struct {
	asked
	pivot    findings.Pivot
	measures []string
	format   string
}

// add adds the flags, of which the format is called by that name; where it has no standard
// it says that tables are wanted at all.
func (t *studyTables) add(cmd *cobra.Command, format, standard string) {
	fl := cmd.Flags()
	formats := strings.Join(findings.Formats(), "|")
	parse := oneOf(formats)
	if standard == "" {
		parse = optional(parse)
	}
	parsedFlag(cmd, &t.format, format, standard, formats, "tables of a study's results in this format", parse)
	fl.StringSliceVar(&t.measures, "measure", nil, "columns, a table each (default: the study's first measure)")
	fl.StringSliceVar(&t.pivot.Rows, "rows", nil, "parameters, or all for a single table (default: what is compared)")
	fl.StringSliceVar(&t.pivot.Columns, "columns", nil, "parameters (default: one that varies beside them, with numbers if there is any)")
	parsedFlag(cmd, &t.pivot.Where, "where", "", "NAME=VALUE,...", "only cases with these values", optional(parseParams))
	fl.BoolVar(&t.pivot.Difference, "difference", false, "differences from the baseline in per cent, in place of means")
	t.asked.add(cmd)
}

// write writes the tables of a study's folder, or of a file.
func (t *studyTables) write(w io.Writer, path string) error {
	f, err := t.findings(path)
	if err != nil {
		return err
	}
	measures := t.measures
	if len(measures) == 0 {
		measures = f.Options.Measures[:1]
	}
	if slices.ContainsFunc(measures, func(m string) bool { return !slices.Contains(f.Options.Measures, m) }) { // it is not among the usual ones
		o := f.Options
		o.Measures = measures
		if f, err = findings.Analyze(f.Table, o); err != nil {
			return usagef("--measure: %w", err)
		}
	}
	var grids []findings.Grid
	for _, measure := range measures {
		layout := t.pivot
		layout.Measure = measure
		if slices.Equal(layout.Rows, []string{"all"}) {
			one := f.InOne(measure)
			layout.Rows, layout.Columns = one.Rows, one.Columns
		}
		of, err := f.Grids(layout)
		var unknown *enum.UnknownError
		if errors.As(err, &unknown) {
			return usagef("%w", err)
		}
		if err != nil {
			return err
		}
		grids = append(grids, of...)
	}
	return findings.Write(w, grids, t.format)
}

func newSweepTable() *cobra.Command {
	var t studyTables
	var out string
	cmd := &cobra.Command{
		Use:   "table DIR",
		Short: "Write a table of a study's results: means, intervals, what is significant",
		Long: `Write a table of a study's results: of each case the mean over its seeds (or over
its weeks, where there is no chance in it) with an interval, what is best in bold
type, and with a star what differs from the baseline for more than chance.

What the study varies and is neither in rows nor in columns has a table for each
of its values: no figure is over two cases. DIR may be a file as well, any CSV
with a row a run.`,
		Example: `  gridslot sweep table results
  gridslot sweep table results --measure mean_bounded_slowdown --rows policy,estimates --columns load --where trace=KTH-SP2-1996-2.1-cln.swf.gz
  gridslot sweep table results --format latex -o waits.tex
  gridslot sweep table mine.csv --parameters policy,load --measure wait`,
		Args:              arguments(1, 1, "DIR"),
		ValidArgsFunction: completeFolders,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" {
				return atomicfile.WriteNamed(out, func(w io.Writer) error { return t.write(w, args[0]) })
			}
			return t.write(cmd.OutOrStdout(), args[0])
		},
	}
	cmd.Flags().SortFlags = false
	t.add(cmd, "format", findings.Formats()[0])
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
	return cmd
}

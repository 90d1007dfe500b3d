package cli

// Models whose flags are the parameters of a source, and Jann's, which is fitted to a log.

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/model"
)

// newSourced is `gridslot generate NAME` of a source by that name: each of its parameters
// is a flag. The same text after `gridslot simulate` runs the same jobs.
func newSourced(t *scenario.Tables, name, text string, params []policy.Param) *cobra.Command {
	g := generation{tables: t}
	if text == "" { // a program that extends the command has given none
		text = "jobs of the source " + name
	}
	first, size := utf8.DecodeRuneInString(text)
	cmd := &cobra.Command{
		Use: name, Short: text, Args: arguments(0, 0, ""),
		Long: string(unicode.ToUpper(first)) + text[size:] + ".\n" + distributionHelp(params),
	}
	f := cmd.Flags()
	f.SortFlags = false
	for _, p := range params {
		f.Var(&parsed[string]{to: new(string), parse: func(s string) (string, error) { return s, nil }, kind: p.Values}, p.Name, p.Text)
	}
	g.addOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var given [][2]string
		cycle := false
		for _, p := range params {
			if flag := f.Lookup(p.Name); flag.Changed {
				given = append(given, [2]string{p.Name, flag.Value.String()})
				cycle = cycle || p.Name == "cycle"
			}
		}
		chosen, err := t.Sources.Parse(policy.Spec(name, given...))
		if err != nil {
			return &usageError{err}
		}
		var jobs iter.Seq[*entity.Job]
		if g.procs, jobs, err = chosen.Value(g.seed); err != nil {
			if len(t.FilesOf("trace", chosen.Spec)) == 0 { // a model refuses nothing but its parameters
				err = &usageError{err}
			}
			return err
		}
		if g.jobs, err = numberOf(f, jobs); err != nil {
			return err
		}
		source, _, _ := strings.Cut(text, ": ") // then comes what it needs
		return g.writeJobs(cmd, source, fmt.Sprintf("%s, estimates %s, seed %d", chosen.Spec, g.estimates, g.seed), cycle, jobs)
	}
	return cmd
}

// numberOf is how many jobs there will be: as many as were asked for, or those of a first
// pass.
func numberOf(f *pflag.FlagSet, jobs iter.Seq[*entity.Job]) (n int64, err error) {
	if asked := f.Lookup("jobs"); asked != nil && asked.Changed {
		return strconv.ParseInt(asked.Value.String(), 10, 64)
	}
	for range jobs {
		n++
	}
	return n, nil
}

// distributionHelp tells how distributions are written, where any can be given.
func distributionHelp(params []policy.Param) string {
	for _, p := range params {
		if p.Values == "DIST" {
			return "\nDIST is one of " + strings.Join(model.DistributionForms(), ", ") + `.
T is a time in seconds or as in 15m, 4h, 30d, or a number of processors; A..B is
even between two. What is drawn for processors is rounded, and drawn anew where no
machine has so many.`
		}
	}
	return ""
}

// newJann is `gridslot generate jann`.
func newJann(t *scenario.Tables) *cobra.Command {
	g := generation{tables: t}
	var from, ranges string
	var order int
	var show bool
	cmd := &cobra.Command{
		Use:   "jann",
		Short: "Jann and others 1997, fitted to a log: hyper-Erlang gaps and runtimes by ranges of sizes",
		Long: `Jann, Pattnaik, Franke, Wang, Skovira and Riordan, JSSPP 1997: jobs of each
range of sizes come by themselves, with gaps and runtimes of hyper-Erlang distributions
of common order that have the first three moments of a log. The paper's own tables are
not at hand: the model is fitted to the log that --from names. That a size is drawn as
often as the log has it is our own addition.

Where no such distribution has the three moments, one with the log's mean is taken, which
is told on standard error. What was fitted is in the header of what is written.`,
		Example: `  gridslot generate jann --from KTH-SP2-1996-2.1-cln.swf.gz --print
  gridslot generate jann --from KTH-SP2-1996-2.1-cln.swf.gz --jobs 20000 --load 0.8 --out out.swf`,
	}
	g.add(cmd, 0)
	f := cmd.Flags()
	f.Lookup("procs").Usage = "processors of the machine (default: the log's)"
	f.Lookup("procs").DefValue = "0"
	f.StringVar(&from, "from", "", "log to fit to (needed)")
	f.StringVar(&ranges, "ranges", "powers", "ranges of sizes end at powers of two, or at the multiples of a number, as in the paper: 5")
	f.IntVar(&order, "order", 7, "greatest order of the distributions; in the paper it is 7")
	f.BoolVar(&show, "print", false, "print what was fitted, and write no jobs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case from == "":
			return usagef("jann is fitted to a log: give --from LOG")
		case order < 1:
			return usagef("--order must be 1 or more, not %d", order)
		}
		m, own, err := scenario.FitJann(from, ranges, order)
		if err != nil {
			return err
		}
		if show {
			return printJann(cmd.OutOrStdout(), &m, own)
		}
		tell := teller(cmd.ErrOrStderr())
		for i := range m.Ranges {
			r := &m.Ranges[i]
			g.notes = append(g.notes, fmt.Sprintf("sizes %s, %d jobs: gaps %s, runtimes %s", sizesOf(r), r.Jobs(), hyperErlang(r.Gap), hyperErlang(r.Run)))
			if without := withoutFit(r); without != "" {
				tell("sizes %s, %d jobs: no hyper-Erlang distribution of an order up to %d has the three moments of the %s: only the mean is met", sizesOf(r), r.Jobs(), order, without)
			}
		}
		if !cmd.Flags().Changed("procs") {
			g.procs = own
		}
		return g.write(cmd, "Jann and others, JSSPP 1997, fitted to "+from, func(load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			m.Processors, m.Load, m.Cycle, m.Seed = g.procs, load, cycle, g.seed
			return m.Jobs(g.jobs)
		})
	}
	return cmd
}

// printJann prints what was fitted, a line a range.
func printJann(w io.Writer, m *model.Jann, procs int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "sizes\tjobs\tmean gap s\tmean runtime s\tgaps\truntimes\tonly means are met of\t")
	for i := range m.Ranges {
		r := &m.Ranges[i]
		fmt.Fprintf(table, "%s\t%d\t%.0f\t%.0f\t%s\t%s\t%s\t\n", sizesOf(r), r.Jobs(), r.Gap.Mean(), r.Run.Mean(), hyperErlang(r.Gap), hyperErlang(r.Run), cmp.Or(withoutFit(r), "-"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "offered load on %d processors: %.3f\n", procs, m.OfferedLoad(procs))
	return err
}

// sizesOf are the least and the greatest size of a range.
func sizesOf(r *model.JannRange) string {
	first, last := r.Sizes[0].Size, r.Sizes[len(r.Sizes)-1].Size
	if first == last {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

// hyperErlang is a distribution as model.ParseDistribution reads it.
func hyperErlang(d model.HyperErlang) string {
	order := float64(d.Order)
	return fmt.Sprintf("hyper-erlang/%.4g/%d/%.6g/%.6g", d.P, d.Order, order/d.Rate1, order/d.Rate2)
}

// withoutFit names what of a range has not the three moments of the log.
func withoutFit(r *model.JannRange) string {
	switch gaps, runs := r.GapMoments < 3, r.RunMoments < 3; {
	case gaps && runs:
		return "gaps and runtimes"
	case gaps:
		return "gaps"
	case runs:
		return "runtimes"
	}
	return ""
}

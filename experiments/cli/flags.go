package cli

import (
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/speedup"
)

// parsed is a flag whose text a function of the library reads.
type parsed[T any] struct {
	to    *T
	parse func(string) (T, error)
	text  string
	kind  string
}

func (p *parsed[T]) String() string { return p.text }
func (p *parsed[T]) Type() string   { return p.kind }

func (p *parsed[T]) Set(s string) error {
	v, err := p.parse(s)
	if err != nil {
		return err
	}
	*p.to, p.text = v, s
	return nil
}

// commaList is a flag of texts with commas between them. Given several times it is all of them.
type commaList struct {
	text  string
	given bool // what stands there is not the default any more
}

func (l *commaList) String() string { return l.text }
func (l *commaList) Type() string   { return "string" }

func (l *commaList) Set(s string) error {
	if l.given {
		s = l.text + "," + s
	}
	l.text, l.given = s, true
	return nil
}

// ParsedFlag defines a flag with a default that parse accepts. Its kind, the
// choices separated by bars, is what help shows and completion offers.
func parsedFlag[T any](cmd *cobra.Command, to *T, name, value, kind, usage string, parse func(string) (T, error)) {
	p := &parsed[T]{to: to, parse: parse, kind: kind}
	if err := p.Set(value); err != nil {
		panic("the default of --" + name + ": " + err.Error())
	}
	cmd.Flags().Var(p, name, usage)
	var values []string
	for _, c := range strings.Split(kind, "|") {
		if c == strings.ToLower(c) { // others stand for a value
			values = append(values, c)
		}
	}
	complete(cmd, name, values)
}

// choices is where a flag keeps what completion offers for it.
const choices = "gridslot_choices"

// complete has completion offer these values of a flag; see completions.
func complete(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.Flags().SetAnnotation(flag, choices, values); err != nil {
		panic(err) // the flag does not exist
	}
}

// completions tells cobra what complete was told, where the call is one that a shell makes to
// complete another: cobra keeps it for as long as the process lives, and all of the command
// with it.
func completions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if values, ok := f.Annotations[choices]; ok {
			err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
			if err != nil {
				panic(err) // it has one already
			}
		}
	})
	for _, sub := range cmd.Commands() {
		completions(sub)
	}
}

// workloadFlags describe a workload: a trace, and how its records become jobs.
type workloadFlags struct {
	o      workload.Options
	tables *scenario.Tables
	from   string // format of the trace

	moldable *speedup.Moldable
}

func (f *workloadFlags) add(cmd *cobra.Command) {
	fs, o := cmd.Flags(), &f.o
	addFrom(cmd, &f.from, f.tables)
	fs.IntVar(&o.Procs, "procs", 0, "processors of the machine (default: the header's MaxProcs, else its MaxNodes)")
	parsedFlag(cmd, &o.ProcsFrom, "procs-from", "requested", "requested|allocated|max", "which field is a job's size, filled from the other where missing", workload.ParseProcsFrom)
	parsedFlag(cmd, &o.Estimates, "estimates", "user", "user|exact|factor:F|tsafrir|tsafrir:max=T|fmodel:F", "what the scheduler is told: the trace's estimate, the runtime, F times it, Tsafrir's model (of up to T, to which runtimes are cut), the runtime times a number from 1 to F", workload.ParseEstimates)
	parsedFlag(cmd, &o.MissingEstimate, "missing-estimate", "runtime", "runtime|drop|SECONDS", "what stands for an estimate that is not given", workload.ParseMissingEstimate)
	parsedFlag(cmd, &o.Overrun, "overrun", "kill", "kill|extend|raise", "a runtime above the estimate: cut it, let it run on, raise the estimate", entity.ParseOverrun)
	addWhere(cmd, o)
	addSelection(fs, o)
	fs.BoolVar(&o.Strict, "strict", false, "any damaged line is an error; otherwise it is left out, counted and reported")
	fs.BoolVar(&o.Sort, "sort", false, "put the jobs in order of submission, all of them in memory: for logs that go backwards")
	fs.Uint64Var(&o.Seed, "seed", 1, "seed of all random numbers")
}

// addFrom defines the flag of a log's format.
func addFrom(cmd *cobra.Command, from *string, t *scenario.Tables) {
	cmd.Flags().StringVar(from, "from", "", "format of the log, with its parameters: "+strings.Join(t.Formats.Names(), ", ")+" (default: what it looks like)")
	complete(cmd, "from", t.Formats.Names())
}

// addWhere defines the flag that chooses among the records of a trace.
func addWhere(cmd *cobra.Command, o *workload.Options) {
	parsedFlag(cmd, &o.Where, "where", "", "EXPRESSION", "keep the records of which it holds, such as 'user != 374 and procs in 1..64' (default: all)", scenario.ParseWhere)
}

// addSelection defines the flags that choose and move a part of a trace.
func addSelection(fs *pflag.FlagSet, o *workload.Options) {
	fs.Int64Var(&o.First, "first", 0, "take so many jobs (default: all)")
	fs.Int64Var(&o.Skip, "skip", 0, "leave out so many jobs at the beginning")
	fs.Float64Var(&o.Load, "load", 0, "scale the times between submissions to offer this load (default: as they are)")
	fs.BoolVar(&o.Shift, "shift", false, "move the first submission to 0")
}

// checkSelection reports values out of range as wrong usage.
func checkSelection(cmd *cobra.Command, o *workload.Options) error {
	given := cmd.Flags().Changed
	switch {
	case given("procs") && (o.Procs < 1 || o.Procs > math.MaxInt32):
		return usagef("--procs must be 1 or more, at most %d, not %d", math.MaxInt32, o.Procs)
	case given("first") && o.First < 0:
		return usagef("--first must not be negative: %d", o.First)
	case o.Skip < 0:
		return usagef("--skip must not be negative: %d", o.Skip)
	case given("load") && !(o.Load > 0 && o.Load <= workload.MostLoad):
		return usagef("--load must be a number above 0, at most %v, not %v", float64(workload.MostLoad), o.Load)
	}
	return nil
}

// positive reports whether x is a finite number above 0.
func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

// open opens the trace of the given arguments, or the embedded sample where
// there is none.
func (f *workloadFlags) open(cmd *cobra.Command, args []string) (*workload.Trace, error) {
	if err := checkSelection(cmd, &f.o); err != nil {
		return nil, err
	}
	o := f.o
	o.Stdin = cmd.InOrStdin()
	path := ""
	if len(args) > 0 {
		path = args[0]
	}
	t, err := f.tables.OpenTrace(cmd.Context(), path, f.from, o)
	return t, worded(cmd, err)
}

// OneOf returns a parser that accepts the choices of a kind as they are.
func oneOf(kind string) func(string) (string, error) {
	choices := strings.Split(kind, "|")
	return func(s string) (string, error) {
		for _, c := range choices {
			if s == c {
				return s, nil
			}
		}
		if len(choices) == 2 {
			return "", usagef("want %s, not %q", strings.Join(choices, " or "), s)
		}
		return "", usagef("want one of %s, not %q", strings.Join(choices, ", "), s)
	}
}

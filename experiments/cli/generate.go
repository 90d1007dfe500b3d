package cli

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// generation is what every model of `gridslot generate` is told.
type generation struct {
	scenario.Arrivals
	jobs      int64
	procs     int
	meanGap   float64
	seed      uint64
	estimates workload.Estimates
	out       string
	tables    *scenario.Tables // of formats
	notes     []string         // of the model, for the header
}

func newGenerate(t *scenario.Tables) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "generate MODEL",
		Short: "Write a workload of a model of the literature as a log, or batches of requests as a job file",
		// A model's flags are not the group's: the model's name is what is wrong.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}, newLublin(t), newDowney(t), newFeitelson(t), newJann(t), newVO(t))
	for _, e := range t.Sources {
		known := func(c *cobra.Command) bool { return c.Name() == e.Name }
		if !slices.ContainsFunc(cmd.Commands(), known) && e.Name != "resample" && e.Name != "feedback" { // these are commands of trace
			cmd.AddCommand(newSourced(t, e.Name, e.Text, e.Params))
		}
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var known []string
		for _, c := range cmd.Commands() {
			known = append(known, c.Name())
		}
		return usagef("unknown model %q: there are %s", args[0], strings.Join(known, ", "))
	}
	return cmd
}

func newLublin(t *scenario.Tables) *cobra.Command {
	g := generation{tables: t}
	var typed bool
	cmd := &cobra.Command{
		Use:     "lublin",
		Short:   "Lublin and Feitelson 2003: rigid jobs with a daily cycle",
		Example: "  gridslot generate lublin --jobs 5000 --procs 256 --load 0.8 --estimates tsafrir > out.swf",
	}
	g.add(cmd, 128)
	cmd.Flags().BoolVar(&typed, "typed", false, "two populations, interactive and batch, instead of one")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return g.write(cmd, "Lublin and Feitelson, JPDC 63(11), 2003", func(load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			return model.Lublin{Processors: g.procs, Typed: typed, Load: load, Cycle: cycle, Seed: g.seed}.Jobs(g.jobs)
		})
	}
	return cmd
}

func newDowney(t *scenario.Tables) *cobra.Command {
	g := generation{tables: t}
	var sigma float64
	cmd := &cobra.Command{
		Use:   "downey",
		Short: "Downey 1997, constants unverified: log-uniform work and parallelism",
		Long: `Downey 1997: log-uniform work and parallelism. The constants were not held
against the paper, and no rate of arrivals is published: give --load or
--mean-gap.`,
		Example: "  gridslot generate downey --jobs 5000 --procs 256 --load 0.8 > out.swf",
	}
	g.add(cmd, 128)
	g.addMeanGap(cmd)
	cmd.Flags().Float64Var(&sigma, "sigma", 0, "variation of a job's parallelism (0: perfect speedup)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := g.checkRate(); err != nil {
			return err
		}
		return g.write(cmd, "Downey, HPDC 1997 (unverified)", func(load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			return model.Downey{Processors: g.procs, Sigma: sigma, MeanGap: g.meanGap, Load: load, Cycle: cycle, Seed: g.seed}.Jobs(g.jobs)
		})
	}
	return cmd
}

// mostSizes is how many sizes of jobs Feitelson's model sums over within a second or two.
const mostSizes = 10_000_000

func newFeitelson(t *scenario.Tables) *cobra.Command {
	g := generation{tables: t}
	var unit float64
	cmd := &cobra.Command{
		Use:   "feitelson",
		Short: "Feitelson 1996, partly unverified: small sizes, repeated runs",
		Long: `Feitelson 1996: small sizes prevail and jobs are run repeatedly. Some of its
constants were not to be had; no rate of arrivals is published: give --load or
--mean-gap.`,
		Example: "  gridslot generate feitelson --jobs 5000 --procs 256 --load 0.8 --time-unit 600 > out.swf",
	}
	g.add(cmd, 128)
	g.addMeanGap(cmd)
	parsedFlag(cmd, &unit, "time-unit", "0", "T", "mean of the shorter runtimes, in seconds or as in 10m (needed)", des.ParseSeconds)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := g.checkRate(); err != nil {
			return err
		}
		if !positive(unit) {
			return usagef("give --time-unit, the mean of the shorter runtimes in seconds, above 0: none is published")
		}
		if g.procs > mostSizes {
			return usagef("--procs must be at most %d: the model sums over all sizes of jobs", mostSizes)
		}
		return g.write(cmd, "Feitelson, JSSPP 1996 (partly unverified)", func(load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error) {
			return model.Feitelson{Processors: g.procs, TimeUnit: unit, MeanGap: g.meanGap, Load: load, Cycle: cycle, Seed: g.seed}.Jobs(g.jobs)
		})
	}
	return cmd
}

func (g *generation) add(cmd *cobra.Command, procs int) {
	cmd.Args = arguments(0, 0, "")
	f := cmd.Flags()
	f.Int64Var(&g.jobs, "jobs", 5000, "number of jobs")
	f.IntVar(&g.procs, "procs", procs, "processors of the machine")
	f.Float64Var(&g.Load, "load", 0, "offered load in the long run (default: the model's own)")
	parsedFlag(cmd, &g.Cycle, "cycle", "", scenario.CycleForm, "when jobs come: weights of equal parts of the day from midnight on, and of Monday to Sunday; or as in a log", optional(scenario.ParseCycle))
	parsedFlag(cmd, &g.Flurries, "flurries", "", scenario.FlurriesForm, "bursts of one user's near-identical jobs among the others: one job in N begins one", optional(scenario.ParseFlurries))
	g.addOutput(cmd)
}

// addOutput defines the flags of what is written, whatever the model.
func (g *generation) addOutput(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Uint64Var(&g.seed, "seed", 1, "seed of all random numbers")
	parsedFlag(cmd, &g.estimates, "estimates", "exact", "exact|tsafrir|tsafrir:max=T|fmodel:F", "what users say of runtimes: the truth, Tsafrir's model (of up to T, to which runtimes are cut), or the runtime times a number from 1 to F", parseModelled)
	f.StringVar(&g.out, "out", "", "file to write, of the format that its ending tells, or SWF, and packed where it ends in .gz or .zst (default: standard output, SWF)")
}

// parseModelled reads estimates that need no log.
func parseModelled(text string) (workload.Estimates, error) {
	e, err := workload.ParseEstimates(text)
	switch {
	case strings.HasPrefix(text, "fmodel"), strings.HasPrefix(text, "tsafrir"):
		return e, err
	case err != nil || e.Kind != workload.EstimatesExact && e.Kind != workload.EstimatesTsafrir:
		return e, fmt.Errorf("want exact, tsafrir, tsafrir:max=T or fmodel:F, not %q", text)
	}
	return e, nil
}

func (g *generation) addMeanGap(cmd *cobra.Command) {
	parsedFlag(cmd, &g.meanGap, "mean-gap", "0", "T", "mean time between submissions, in seconds or as in 10m, instead of --load", des.ParseSeconds)
}

// checkRate is for models without a rate of arrivals of their own.
func (g *generation) checkRate() error {
	if positive(g.Load) == positive(g.meanGap) || g.Load != 0 && g.meanGap != 0 {
		return usagef("give either --load or --mean-gap (seconds), above 0: no rate of arrivals is published")
	}
	return nil
}

// drawnBytes are what a model of estimates keeps of a job while it draws them.
const drawnBytes = 40

// during is jobs as long as ctx lasts: a model of estimates looks at all of them first.
func during(ctx context.Context, jobs iter.Seq[*entity.Job]) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		for j := range jobs {
			if ctx.Err() != nil || !yield(j) {
				return
			}
		}
	}
}

// write generates the jobs and writes them.
func (g *generation) write(cmd *cobra.Command, source string, generate func(load float64, cycle *model.Cycle) (iter.Seq[*entity.Job], error)) error {
	switch {
	case g.jobs < 1:
		return usagef("--jobs must be 1 or more, not %d", g.jobs)
	case g.procs < 1 || g.procs > math.MaxInt32:
		return usagef("--procs must be 1 or more, at most %d, not %d", math.MaxInt32, g.procs)
	case cmd.Flags().Changed("load") && !positive(g.Load):
		return usagef("--load must be a number above 0, not %v", g.Load)
	}
	cycle := g.Cycle
	if cycle != nil {
		read, err := cycle()
		if err != nil {
			return err
		}
		g.Cycle = func() (*model.Cycle, error) { return read, nil }
	}
	jobs, err := g.Of(g.jobs, g.seed, generate)
	if err != nil {
		return &usageError{err} // a model refuses nothing but its parameters
	}
	said := "model " + cmd.Name()
	if g.Load > 0 {
		said += fmt.Sprintf(", load %v", g.Load)
	}
	said += fmt.Sprintf(", estimates %s, seed %d", g.estimates, g.seed)
	for _, name := range []string{"cycle", "flurries", "typed", "mean-gap", "time-unit", "sigma", "ranges", "order"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			said += ", " + name + " " + f.Value.String()
		}
	}
	return g.writeJobs(cmd, source, said, cycle != nil, jobs)
}

// writeJobs writes jobs with their estimates, and a header that says how they were made.
func (g *generation) writeJobs(cmd *cobra.Command, source, said string, cycle bool, jobs iter.Seq[*entity.Job]) error {
	format, err := writable(cmd, g.tables, g.out, "")
	if err != nil {
		return err
	}
	jobs = during(cmd.Context(), jobs)
	switch g.estimates.Kind {
	case workload.EstimatesTsafrir:
		if err := hostmem.Fits(0, hostmem.Need{What: fmt.Sprintf("the estimates of %d jobs", g.jobs), Bytes: drawnBytes * float64(g.jobs)}); err != nil {
			return err
		}
		given, err := model.Tsafrir{Max: g.estimates.Max}.Attach(jobs, des.NewStream(g.seed, 0, "estimates"))
		if err != nil {
			return err
		}
		jobs = given.Jobs
		if given.Cut > 0 {
			teller(cmd.ErrOrStderr())("the runtimes of %d jobs were above the longest estimate, and are cut to it: they offer less load", given.Cut)
		}
	case workload.EstimatesFModel:
		jobs = model.FModel{Most: g.estimates.Factor, Seed: g.seed}.Attach(jobs)
	}
	h := &workload.Header{}
	for _, e := range []workload.Entry{
		{Key: "Version", Value: "2.2"},
		{Key: "Computer", Value: "none: generated by gridslot " + Version},
		{Key: "Information", Value: source},
		{Key: "MaxJobs", Value: strconv.FormatInt(g.jobs, 10)},
		{Key: "MaxRecords", Value: strconv.FormatInt(g.jobs, 10)},
		{Key: "MaxNodes", Value: strconv.Itoa(g.procs)},
		{Key: "MaxProcs", Value: strconv.Itoa(g.procs)},
		{Key: "Note", Value: said},
	} {
		h.Add(e.Key, e.Value)
	}
	for _, note := range g.notes {
		h.Add("Note", note)
	}
	if cycle {
		scenario.AddCycleBegin(h)
	}
	out, err := createLog(cmd, g.out, format, h)
	if err != nil {
		return err
	}
	defer out.Abort()
	for j := range jobs {
		rec := workload.RecordOf(j)
		if err := out.Write(&rec); err != nil {
			return err
		}
	}
	if err := cmd.Context().Err(); err != nil {
		return err // the jobs have ended early
	}
	if err := out.Close(); err != nil {
		return err
	}
	out.tellLost()
	return out.Commit()
}

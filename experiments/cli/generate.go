package cli

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/machine"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// generation is what every model of `gridslot generate` is told.
type generation struct {
	jobs      int64
	procs     int
	load      float64
	meanGap   float64
	seed      uint64
	estimates string
	out       string
}

func newGenerate(t *scenario.Tables) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "generate MODEL",
		Short: "Write a workload of a model of the literature as SWF, or batches of requests as a job file",
		// A model's flags are not the group's: the model's name is what is wrong.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}, newLublin(), newDowney(), newFeitelson(), newVO(t))
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		why := ""
		if args[0] == "jann" {
			why = "; jann is fitted to a log, through the library (model.FitJann)"
		}
		return usagef("unknown model %q: there are lublin, downey, feitelson and vo%s", args[0], why)
	}
	return cmd
}

func newLublin() *cobra.Command {
	var g generation
	var typed bool
	cmd := &cobra.Command{
		Use:     "lublin",
		Short:   "Lublin and Feitelson 2003: rigid jobs with a daily cycle",
		Example: "  gridslot generate lublin --jobs 5000 --procs 256 --load 0.8 --estimates tsafrir > out.swf",
	}
	g.add(cmd, 128)
	cmd.Flags().BoolVar(&typed, "typed", false, "two populations, interactive and batch, instead of one")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		m := model.Lublin{Processors: g.procs, Typed: typed, Load: g.load, Seed: g.seed}
		return g.write(cmd, "Lublin and Feitelson, JPDC 63(11), 2003", m.Jobs)
	}
	return cmd
}

func newDowney() *cobra.Command {
	var g generation
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
		m := model.Downey{Processors: g.procs, Sigma: sigma, MeanGap: g.meanGap, Load: g.load, Seed: g.seed}
		return g.write(cmd, "Downey, HPDC 1997 (unverified)", m.Jobs)
	}
	return cmd
}

// mostSizes is how many sizes of jobs Feitelson's model sums over within a second or two.
const mostSizes = 10_000_000

func newFeitelson() *cobra.Command {
	var g generation
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
	cmd.Flags().Float64Var(&unit, "time-unit", 0, "mean of the shorter runtimes in seconds (needed)")
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
		m := model.Feitelson{Processors: g.procs, TimeUnit: unit, MeanGap: g.meanGap, Load: g.load, Seed: g.seed}
		return g.write(cmd, "Feitelson, JSSPP 1996 (partly unverified)", m.Jobs)
	}
	return cmd
}

func (g *generation) add(cmd *cobra.Command, procs int) {
	cmd.Args = arguments(0, 0, "")
	f := cmd.Flags()
	f.Int64Var(&g.jobs, "jobs", 5000, "number of jobs")
	f.IntVar(&g.procs, "procs", procs, "processors of the machine")
	f.Float64Var(&g.load, "load", 0, "offered load in the long run (default: the model's own)")
	f.Uint64Var(&g.seed, "seed", 1, "seed of all random numbers")
	parsedFlag(cmd, &g.estimates, "estimates", "exact", "exact|tsafrir", "what users say of runtimes: the truth, or Tsafrir's model", oneOf("exact|tsafrir"))
	f.StringVar(&g.out, "out", "", "file to write, packed where it ends in .gz or .zst (default: standard output)")
}

func (g *generation) addMeanGap(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&g.meanGap, "mean-gap", 0, "mean time between submissions in seconds, instead of --load")
}

// checkRate is for models without a rate of arrivals of their own.
func (g *generation) checkRate() error {
	if positive(g.load) == positive(g.meanGap) || g.load != 0 && g.meanGap != 0 {
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
func (g *generation) write(cmd *cobra.Command, source string, generate func(int64) (iter.Seq[*entity.Job], error)) error {
	switch {
	case g.jobs < 1:
		return usagef("--jobs must be 1 or more, not %d", g.jobs)
	case g.procs < 1 || g.procs > math.MaxInt32:
		return usagef("--procs must be 1 or more, at most %d, not %d", math.MaxInt32, g.procs)
	case cmd.Flags().Changed("load") && !positive(g.load):
		return usagef("--load must be a number above 0, not %v", g.load)
	}
	jobs, err := generate(g.jobs)
	if err != nil {
		return &usageError{err} // a model refuses nothing but its parameters
	}
	jobs = during(cmd.Context(), jobs)
	if g.estimates == "tsafrir" {
		if err := machine.Fits(0, machine.Need{What: fmt.Sprintf("the estimates of %d jobs", g.jobs), Bytes: drawnBytes * float64(g.jobs)}); err != nil {
			return err
		}
		given, err := model.Tsafrir{}.Attach(jobs, des.NewStream(g.seed, 0, "estimates"))
		if err != nil {
			return err
		}
		jobs = given.Jobs
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
		{Key: "Note", Value: fmt.Sprintf("model %s, load %v, estimates %s, seed %d", cmd.Name(), g.load, g.estimates, g.seed)},
	} {
		h.Add(e.Key, e.Value)
	}
	out, err := createSWF(cmd, g.out, h)
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
	return out.Commit()
}

package cli

// The command `gridslot sweep`: studies, thousands of simulations. What looks into a
// study's folder stands in sweepfolder.go, the short probe of --dry-run in
// sweepprobe.go.

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/slurm"
)

// sweeping is one call of `gridslot sweep`, or of one of its commands that carry out runs.
type sweeping struct {
	env    Env
	tables *simulation.Tables

	// out is the folder of the study.
	out string
	// What carries the runs out, local or slurm; tasks is the most tasks of Slurm.
	engine string
	tasks  int
	// sbatch has options of sbatch, several in one text with blanks between them.
	sbatch  []string
	workers int
	// memory is the bytes of all runs under way; 0 leaves it to package sweep. limit is the longest
	// time of one run; 0 sets no limit.
	memory int64
	limit  time.Duration
	dryRun bool
	// shard is the part of the study that this call carries out; the zero value is all of it. retry
	// also does runs again that have failed.
	shard sweep.Shard
	retry bool
}

// local returns the engine that a call uses on this machine: worker processes of this very program.
func (s *sweeping) local() (sweep.Local, error) {
	self, err := os.Executable()
	if err != nil {
		return sweep.Local{}, fmt.Errorf("finding the program for the workers: %w", err)
	}
	return sweep.Local{Workers: s.workers, Memory: s.memory, Command: []string{self, "sweep", "work"}}, nil
}

// newSweep is `gridslot sweep`.
func newSweep(env Env, t *simulation.Tables) *cobra.Command {
	s := &sweeping{env: env, tables: t}
	cmd := &cobra.Command{
		Use:   "sweep STUDY.yaml --out DIR",
		Short: "Carry out a study: thousands of runs that lose nothing",
		Long: `Carry out a study: STUDY.yaml names settings and seeds, and each combination is a run.
DIR/results.csv has a row for each run.

Each run is done once. After an interrupt or a crash, the same command does the
missing runs. If the study changes, the same command adds the new runs; results of
different programs or inputs are never mixed. A run that panics, hangs (--limit) or
takes too much memory (--memory) fails alone: 'sweep status DIR' lists failures,
'sweep retry DIR' tries failed runs again.

With --engine slurm the runs become jobs of Slurm, over a folder that all nodes
see: an array of tasks, and a job that merges after it. Under any other batch
system each of N tasks calls 'sweep shard I/N', and 'sweep merge' follows.`,
		Example: `  gridslot sweep study.yaml --dry-run
  gridslot sweep study.yaml --out results
  gridslot sweep study.yaml --out results --workers 8 --limit 10m --memory 12G
  gridslot sweep status results
  gridslot sweep shard 3/8 study.yaml --out results`,
		ValidArgsFunction: completeFiles("yaml", "yml"),
		RunE:              func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	s.addOut(cmd)
	s.addLocal(cmd)
	choiceFlag(cmd, &s.engine, "engine", "local|slurm", "what carries out the runs: worker processes on this machine, or jobs of Slurm")
	cmd.Flags().IntVar(&s.tasks, "tasks", 64, "slurm: how many tasks do the runs at most")
	cmd.Flags().StringArrayVar(&s.sbatch, "sbatch", nil, "slurm: `OPTIONS` of sbatch with blanks between them, such as '--time=2:00:00 --mem=4G'")
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "tell how many runs there are and about how long they take, from a short probe; nothing is written")
	cmd.AddCommand(newSweepStatus(), newSweepRetry(env, t), newSweepMerge(), newSweepClean(), newSweepShard(env, t), newSweepWork(t))
	return cmd
}

// addOut defines the flag of the study's folder.
func (s *sweeping) addOut(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.out, "out", "", "folder of the study")
	cmd.Flags().SortFlags = false
	_ = cmd.MarkFlagDirname("out") // it exists
}

// addLocal defines the flags of runs on this machine.
func (s *sweeping) addLocal(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "runs at a time on this machine")
	parsedFlag(cmd, &s.memory, "memory", "", "SIZE", "memory of all runs under way, such as 12G: runs that take more than their part of it are done after the others, fewer at a time (default: three quarters of the machine's)", optional(hostmem.ParseSize))
	parsedFlag(cmd, &s.limit, "limit", "", "TIME", "of one run, such as 90s or 2h: it fails when it takes longer (default: none)", optional(study.ParseLimit))
}

// optional returns a parser that accepts an empty text as the zero value.
func optional[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (v T, err error) {
		if text == "" {
			return v, nil
		}
		return parse(text)
	}
}

// completeFiles completes files with these endings.
func completeFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeFolders completes folders.
func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// check reports values that are out of range, or that mean nothing here, as wrong usage. Commands
// without a flag have its zero value, and their engine is "".
func (s *sweeping) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case s.out == "" && !s.dryRun:
		return usagef("give --out, the folder for the results")
	case s.workers < 1:
		return usagef("--workers must be 1 or more, not %d", s.workers)
	case given("memory") && s.memory < 1:
		return usagef("--memory must be more than nothing")
	case s.tasks < 1 && s.engine == "slurm":
		return usagef("--tasks must be 1 or more, not %d", s.tasks)
	}
	for _, name := range []string{"tasks", "sbatch"} {
		if given(name) && s.engine != "slurm" {
			return usagef("--%s is for --engine slurm", name)
		}
	}
	return nil
}

// run carries the study of a file out, or tells what it would take.
func (s *sweeping) run(cmd *cobra.Command, path string) error {
	st, err := study.Open(path, s.tables) // what is wrong in it is told before what is missing beside it
	if err != nil {
		return err
	}
	if err := s.check(cmd); err != nil {
		return err
	}
	if s.dryRun {
		return s.outlook(cmd, st)
	}
	return s.carryOut(cmd, st)
}

// carryOut carries out what is missing of a study, and writes what its results say.
func (s *sweeping) carryOut(cmd *cobra.Command, st *study.Definition) error {
	plan, err := s.study(cmd, st)
	if err != nil {
		return err
	}
	// Who does the runs: workers here, or later jobs of Slurm. For Slurm, Run does none: they stay
	// missing, and submit leaves them to its jobs.
	if s.engine == "slurm" {
		if err := slurm.Free(cmd.Context(), s.out); err != nil {
			return err
		}
		plan.Engine = sweep.Later{}
	} else if plan.Engine, err = s.local(); err != nil {
		return err
	}
	if err := tellIfChanged(&plan); err != nil {
		return err
	}
	// Do what is missing.
	var show runsProgress
	plan.Progress = show.set
	stop := show.begin(cmd.ErrOrStderr(), plan.Tell)
	results, err := sweep.Run(cmd.Context(), plan, st.Do)
	stop()
	if results == nil {
		return err
	}
	// Say what is done. A shard and a study in Slurm's queue have no conclusions yet.
	status := results.Status()
	if cmd.Context().Err() != nil && status.Missing > 0 {
		plan.Tell("%d of %d runs are done and stay; the same command goes on with the others", status.Done, status.Units)
	}
	if err != nil {
		return err
	}
	if s.shard.IsPart() {
		done, failed, all := partOf(s.shard, results)
		fmt.Fprintf(cmd.OutOrStdout(), "%d of the %d runs of the shard are done, %d have failed\n", done, all, failed)
		return nil // what has failed is stored as well: a batch system has nothing to do again
	}
	if s.engine == "slurm" && status.Missing > 0 {
		return s.submit(cmd, status.Missing)
	}
	if err := conclude(s.out, status, plan.Tell); err != nil {
		return err
	}
	fmt.Fprintf(shown{cmd.OutOrStdout()}, "%d of %d runs are done: %s\n", status.Done, status.Units, filepath.Join(s.out, sweep.ResultsName))
	if n := status.Failed(); n > 0 {
		writeFailures(cmd.ErrOrStderr(), failuresOf(results))
		return fmt.Errorf("%s: 'gridslot sweep status %s' tells more, 'gridslot sweep retry %[2]s' tries again", haveFailed(n), s.out)
	}
	return nil
}

// submit leaves the runs that are missing to Slurm: to tasks, no more than runs, with the limits of
// this call. What a study's file limits each task reads itself.
func (s *sweeping) submit(cmd *cobra.Command, missing int) error {
	var flags []string
	if s.memory > 0 {
		flags = append(flags, "--memory", strconv.FormatInt(s.memory, 10))
	}
	if s.limit > 0 {
		flags = append(flags, "--limit", strconv.FormatFloat(s.limit.Seconds(), 'f', -1, 64)+"s")
	}
	submitted, err := slurm.Submit(cmd.Context(), s.out, min(s.tasks, missing), strings.Fields(strings.Join(s.sbatch, " ")), flags)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(shown{cmd.OutOrStdout()}, "%s\n%d runs are to be done: 'gridslot sweep status %s' tells how far they are\n", submitted, missing, s.out)
	return err
}

// tellIfChanged tells if the folder has results, but none of this study as it is now: then all runs
// are done anew, which the user may not expect.
func tellIfChanged(study *sweep.Study) error {
	folder, err := sweep.Open(study.Dir)
	if err != nil {
		return nil // there is none yet
	}
	defer folder.Close()
	before, err := folder.Plan()
	if err != nil {
		return err
	}
	now, err := study.Plan()
	if err != nil {
		return err
	}
	planned := map[string]bool{}
	for _, u := range now.Units {
		planned[u.Key] = true
	}
	if slices.ContainsFunc(before.Units, func(u sweep.Unit) bool { return planned[u.Key] }) {
		return nil
	}
	results, err := folder.Results()
	if err == nil && results.Status().Done > 0 {
		study.Tell("the study, its files or the program are others than when the results in %s were made: all runs are done anew; 'gridslot sweep clean %[1]s' removes the old ones afterwards", study.Dir)
	}
	return err
}

// partOf returns how many runs of a shard are done, how many have failed, and how many it has.
func partOf(s sweep.Shard, r *sweep.Results) (done, failed, all int) {
	for i, u := range r.Plan.Units {
		switch {
		case !s.Has(u):
			continue
		case r.Failures[i] != nil:
			failed++
		case r.Rows[i] != nil:
			done++
		}
		all++
	}
	return done, failed, all
}

// haveFailed says how many runs have failed.
func haveFailed(n int) string {
	if n == 1 {
		return "a run has failed"
	}
	return fmt.Sprintf("%d runs have failed", n)
}

// study returns the plan of a study with all that the flags say. A limit given by a flag stands in
// place of the study's.
func (s *sweeping) study(cmd *cobra.Command, st *study.Definition) (sweep.Study, error) {
	plan, err := st.Study(build())
	if err != nil {
		return plan, err
	}
	plan.Dir, plan.Shard, plan.Retry = s.out, s.shard, s.retry
	if s.limit > 0 {
		plan.Limit.Time = s.limit
	}
	plan.Command = append([]string{"gridslot"}, s.env.Args...)
	plan.Tell = teller(cmd.ErrOrStderr())
	return plan, nil
}

// runsProgress shows how far a study is: a bar on a terminal, elsewhere a line each minute. Runs
// that were done when the call began do not count for the time that is left.
type runsProgress struct {
	mu     sync.Mutex
	known  bool // set has been called
	before int  // runs that were done when the call began
	done   int
	total  int
}

// linesEvery is the time between two lines of progress if there is no bar.
const linesEvery = time.Minute

// set is told how many runs are done of how many. Calls may come in another order than they were
// made, so that the greatest number counts.
func (p *runsProgress) set(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known {
		p.known, p.before = true, done
	}
	p.done, p.total = max(p.done, done), total
}

// now returns how many runs have been done in this call, and how many are done of how many in all.
func (p *runsProgress) now() (here, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done - p.before, p.done, p.total
}

// begin shows the progress until the function that it returns is called. The bar appears once it is
// known how many runs there are; a line tells how long the rest takes if it goes on as it did.
func (p *runsProgress) begin(out io.Writer, tell func(string, ...any)) (stop func()) {
	began, told := time.Now(), time.Now()
	hide, drawn := func() {}, false
	return repeatedly(func() {
		switch here, done, total := p.now(); {
		case done == total: // so it is, too, while the number of runs is not known
		case drawable(out) && !drawn:
			drawn = true
			hide = showProgress(out, func() string {
				_, done, _ := p.now()
				return fmt.Sprintf("run %d of %d", done, total)
			}, int64(total-done+here), func() int64 {
				here, _, _ := p.now()
				return int64(here)
			})
		case !drawable(out) && time.Since(told) >= linesEvery && here > 0:
			told = time.Now()
			left := time.Duration(float64(time.Since(began)) / float64(here) * float64(total-done))
			tell("%d of %d runs are done, about %s left", done, total, roughly(left))
		}
	}, func() { hide() })
}

// roughly returns a time as people say it, in the unit that leaves few digits.
func roughly(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

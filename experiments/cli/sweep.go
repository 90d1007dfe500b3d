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

// sweeping is one call of `gridslot sweep`, or of one of its commands that carry out
// runs.
type sweeping struct {
	env    Env
	tables *simulation.Tables

	out     string
	engine  string // local or slurm
	tasks   int    // of Slurm
	sbatch  []string
	workers int
	memory  int64         // bytes of all runs
	limit   time.Duration // of a run
	dryRun  bool
	shard   sweep.Shard
	retry   bool
}

// local is the engine that a call uses on this machine.
func (s *sweeping) local() (sweep.Local, error) {
	self, err := os.Executable()
	if err != nil {
		return sweep.Local{}, fmt.Errorf("finding the program for the workers: %w", err)
	}
	return sweep.Local{Workers: s.workers, Memory: s.memory, Command: []string{self, "sweep", "work"}}, nil
}

func newSweep(env Env, t *simulation.Tables) *cobra.Command {
	s := &sweeping{env: env, tables: t}
	cmd := &cobra.Command{
		Use:   "sweep STUDY.yaml --out DIR",
		Short: "Carry out a study: thousands of runs that lose nothing",
		Long: `Carry out a study: a grid of settings times replications, as STUDY.yaml says.
The results are in DIR/results.csv, a row a run.

Each run is done once: called again, after an interrupt or whatever befell the
machine, sweep adds what is missing. A changed study adds its runs and never
mixes them with others. A run that panics, hangs (--limit) or takes too much
memory (--memory) fails alone; 'sweep status DIR' tells which, 'sweep retry DIR'
tries them again.

With --engine slurm the runs become jobs of Slurm, over a folder that all nodes
see: an array of tasks, and a job that merges after it. Under any other batch
system each of N tasks runs 'sweep shard I/N', and 'sweep merge' follows.`,
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
	parsedFlag(cmd, &s.engine, "engine", "local", "local|slurm", "what carries out the runs: worker processes on this machine, or jobs of Slurm", oneOf("local|slurm"))
	cmd.Flags().IntVar(&s.tasks, "tasks", 64, "slurm: how many tasks do the runs at most")
	cmd.Flags().StringArrayVar(&s.sbatch, "sbatch", nil, "slurm: `OPTIONS` of sbatch with blanks between them, such as '--time=2:00:00 --mem=4G'")
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "tell how many runs there are and about how long they take, from a short probe; nothing is written")
	cmd.AddCommand(newSweepStatus(), newSweepRetry(env, t), newSweepMerge(), newSweepClean(), newSweepShard(env, t), newSweepWork(t))
	return cmd
}

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

// Optional reads a text that may be empty.
func optional[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (v T, err error) {
		if text == "" {
			return v, nil
		}
		return parse(text)
	}
}

func completeFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// check reports values out of range as wrong usage.
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

// carryOut carries out what is missing of a study.
func (s *sweeping) carryOut(cmd *cobra.Command, st *study.File) error {
	plan, err := s.study(cmd, st)
	if err != nil {
		return err
	}
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
	var show runsProgress
	plan.Progress = show.set
	stop := show.begin(cmd.ErrOrStderr(), plan.Tell)
	results, err := sweep.Run(cmd.Context(), plan, st.Do)
	stop()
	if results == nil {
		return err
	}
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

// submit leaves the runs that are missing to Slurm.
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
	_, err = fmt.Fprintf(shown{cmd.OutOrStdout()}, "%v\n%d runs are to be done: 'gridslot sweep status %s' tells how far they are\n", submitted, missing, s.out)
	return err
}

// tellIfChanged tells where the folder has results, but none of this study as it is now.
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

// partOf is how many runs of a shard are done and have failed, and how many it has.
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

func haveFailed(n int) string {
	if n == 1 {
		return "a run has failed"
	}
	return fmt.Sprintf("%d runs have failed", n)
}

// study is the plan of a study with all that the flags say.
func (s *sweeping) study(cmd *cobra.Command, st *study.File) (sweep.Study, error) {
	plan, err := st.Study(Build())
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

// runsProgress shows how far a study is: a bar on a terminal, a line now and then
// elsewhere. Runs that were done when the call began do not count for what is left.
type runsProgress struct {
	mu     sync.Mutex
	known  bool // set has been called
	before int  // runs that were done when the call began
	done   int
	total  int
}

// linesEvery is how often progress is told where there is no bar.
const linesEvery = time.Minute

// set is told how many runs of how many are done. Of two calls at a time the later one may
// come first.
func (p *runsProgress) set(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known {
		p.known, p.before = true, done
	}
	p.done, p.total = max(p.done, done), total
}

// now is how many runs have been done in this call, and how many of how many in all.
func (p *runsProgress) now() (here, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done - p.before, p.done, p.total
}

// begin shows the progress until the function that it returns is called.
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

// roughly is a time as people say it.
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

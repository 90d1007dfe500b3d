package cli

// The commands of `gridslot sweep` that work on the folder of a study.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/slurm"
)

// failuresOfKind has the failures of a study that are of one kind. Key and Message are those of the
// first one.
type failuresOfKind struct {
	Kind sweep.FailureKind `json:"kind"`
	Runs int               `json:"runs"`
	// First is the case that stands first in the plan, and Key its key, which names its files.
	First   string `json:"first"`
	Key     string `json:"key"`
	Message string `json:"message"`
}

// failuresOf returns the failures of a study by kind, in the order of the first one of each in the
// plan.
func failuresOf(r *sweep.Results) []failuresOfKind {
	all := []failuresOfKind{}
	// The keys of the map are places in the plan.
	for _, index := range slices.Sorted(maps.Keys(r.Failures)) {
		f, u := r.Failures[index], r.Plan.Units[index]
		i := slices.IndexFunc(all, func(k failuresOfKind) bool { return k.Kind == f.Kind })
		if i < 0 {
			i = len(all)
			all = append(all, failuresOfKind{Kind: f.Kind, First: u.String(), Key: u.Key, Message: f.Message})
		}
		all[i].Runs++
	}
	return all
}

// writeFailures writes a line for each kind, with the message of its first failure below.
func writeFailures(w io.Writer, all []failuresOfKind) {
	for _, f := range all {
		fmt.Fprintf(w, "%6d %-7s first %s\n", f.Runs, f.Kind, harmless(f.First))
		for line := range strings.Lines(harmless(f.Message)) {
			fmt.Fprintf(w, "               %s\n", strings.TrimRight(line, "\n"))
		}
	}
}

// newSweepStatus is `gridslot sweep status`.
func newSweepStatus() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "status DIR",
		Short: "Tell how far a study is, and what has failed",
		Long: `Tell how many runs of a study are done, failed and missing, with the first message
of each kind of failure. DIR/failures has all messages, and the last lines that a
failed run printed.`,
		Example:           "  gridslot sweep status results\n  gridslot sweep status results --format json",
		ValidArgsFunction: completeFolders,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := sweep.Open(args[0])
			if err != nil {
				return err
			}
			defer folder.Close()
			r, err := folder.Results()
			if err != nil {
				return err
			}
			jobs, err := slurm.Jobs(cmd.Context(), args[0])
			if err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "gridslot: of jobs in Slurm nothing is known: %s\n", harmless(err.Error()))
			}
			return writeStatus(cmd.OutOrStdout(), format, r, jobs)
		},
	}
	choiceFlag(cmd, &format, "format", "text|json", "of what is told")
	return cmd
}

// writeStatus writes how far a study is, as text or JSON. Jobs are those in Slurm's queue, none
// where Slurm is not used or does not answer.
func writeStatus(w io.Writer, format string, r *sweep.Results, jobs []slurm.Job) error {
	s, failures := r.Status(), failuresOf(r)
	if format == "json" {
		text, err := json.MarshalIndent(struct {
			Runs     int              `json:"runs"`
			Done     int              `json:"done"`
			Failed   int              `json:"failed"`
			Missing  int              `json:"missing"`
			Failures []failuresOfKind `json:"failures"`
			Slurm    []slurm.Job      `json:"slurm,omitempty"`
		}{s.Units, s.Done, s.Failed(), s.Missing, failures, jobs}, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", text)
		return err
	}
	_, err := fmt.Fprintf(w, "%6d runs\n%6d done\n%6d failed\n%6d missing\n", s.Units, s.Done, s.Failed(), s.Missing)
	if len(failures) > 0 {
		fmt.Fprintln(w, "\nfailures")
		writeFailures(w, failures)
	}
	writeQueued(w, jobs)
	return err
}

// writeQueued tells of the jobs of a study that are in Slurm's queue, equal ones on one line with
// their number, in the order in which the first of each comes.
func writeQueued(w io.Writer, jobs []slurm.Job) {
	lines, count := []string{}, map[string]int{}
	for _, j := range jobs {
		what, state := "tasks", j.State
		if j.Task == 0 {
			what = "merges"
		}
		if j.Reason != "None" && j.Reason != "" {
			state += " (" + j.Reason + ")"
		}
		line := fmt.Sprintf("job %s, %s: %s", j.ID, what, state)
		if count[line]++; count[line] == 1 {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintln(w, "\nin Slurm's queue")
		}
		fmt.Fprintf(w, "%6d %s\n", count[line], harmless(line))
	}
}

// isStudy reports whether a folder has the results of a study: such a folder has a plan.
func isStudy(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, sweep.PlanName))
	return err == nil
}

// conclude writes what the results in a study's folder say beside them, with notes for the user. If
// they do not tell yet, because the baseline is missing, that is no failure of the runs.
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

// openKept reads the study of a folder again, from the copy that is kept there, so that retry and
// shard need no file of the study.
func openKept(dir string, t *simulation.Tables) (*study.Definition, error) {
	folder, err := sweep.Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	p, err := folder.Portable()
	if err != nil {
		return nil, err
	}
	return study.Read(p, t)
}

// newSweepRetry is `gridslot sweep retry`.
func newSweepRetry(env Env, t *simulation.Tables) *cobra.Command {
	s := &sweeping{env: env, tables: t, retry: true}
	cmd := &cobra.Command{
		Use:   "retry DIR",
		Short: "Do the runs of a study again that failed, and those that are missing",
		Long: `Do the failed and the missing runs of the study in DIR. With a greater --limit or
--memory a run may succeed that took too much before.`,
		Example:           "  gridslot sweep retry results\n  gridslot sweep retry results --limit 2h --workers 1",
		ValidArgsFunction: completeFolders,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.out = args[0]
			if err := s.check(cmd); err != nil {
				return err
			}
			st, err := openKept(s.out, t)
			if err != nil {
				return err
			}
			return s.carryOut(cmd, st)
		},
	}
	cmd.Flags().SortFlags = false
	s.addLocal(cmd)
	return cmd
}

// newSweepMerge is `gridslot sweep merge`.
func newSweepMerge() *cobra.Command {
	return &cobra.Command{
		Use:   "merge DIR",
		Short: "Write the results of the runs that are done",
		Long: `Write DIR/results.csv from all runs that are done, by shards for example. No run is
computed.`,
		Example:           "  gridslot sweep merge results",
		ValidArgsFunction: completeFolders,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := sweep.Merge(args[0], study.Columns(), study.CheckRow)
			if err != nil {
				return err
			}
			s := r.Status()
			if err := conclude(args[0], s, teller(cmd.ErrOrStderr())); err != nil {
				return err
			}
			_, err = fmt.Fprintf(shown{cmd.OutOrStdout()}, "%d of %d runs are done: %s\n", s.Done, s.Units, filepath.Join(args[0], sweep.ResultsName))
			return err
		},
	}
}

// newSweepClean is `gridslot sweep clean`.
func newSweepClean() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "clean DIR",
		Short: "Remove what is not of the study's last plan, and failures",
		Long: `Remove from DIR results of other plans, programs and inputs, files of killed
processes, and failures; the failed runs then count as missing. The command lists
everything before it removes it.`,
		Example:           "  gridslot sweep clean results --dry-run\n  gridslot sweep clean results",
		ValidArgsFunction: completeFolders,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := sweep.Reopen(args[0])
			if err != nil {
				return err
			}
			defer folder.Close()
			return cleanFolder(cmd.OutOrStdout(), folder, dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only tell what would be removed")
	return cmd
}

// cleanFolder tells what of a folder is removed, and removes it unless dryRun is set. It tells
// first: a call that is interrupted has then said what may be gone.
func cleanFolder(w io.Writer, folder *sweep.Folder, dryRun bool) error {
	strays, bytes, err := folder.Strays()
	if err != nil {
		return err
	}
	results, err := folder.Results()
	if err != nil {
		return err
	}
	verb, status := "removing", results.Status()
	if dryRun {
		verb = "would remove"
	}
	fmt.Fprintf(w, "%s what is there of %d runs that are not in the plan (%s), and %d failures; %d runs stay\n", verb, strays, hostmem.Size(bytes), status.Failed(), status.Done)
	if dryRun {
		return nil
	}
	return folder.Clean()
}

// newSweepShard is `gridslot sweep shard`.
func newSweepShard(env Env, t *simulation.Tables) *cobra.Command {
	s := &sweeping{env: env, tables: t}
	cmd := &cobra.Command{
		Use:   "shard I/N [STUDY.yaml] --out DIR",
		Short: "Carry out the I-th of N parts of a study",
		Long: `Carry out the I-th of N parts of a study, I from 1 to N, as a task of any batch
system. Parts may run at the same time, on machines that share the folder. When all
parts have ended, 'sweep merge DIR' writes the results; 'sweep' first does missing
runs, and then writes them. Without STUDY.yaml DIR/study.yaml is the study.`,
		Example: "  gridslot sweep shard 3/8 study.yaml --out results\n  gridslot sweep merge results",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeFiles("yaml", "yml")(cmd, args, text)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if s.shard, err = sweep.ParseShard(args[0]); err != nil {
				return usagef("I/N: %w", err)
			}
			if err := s.check(cmd); err != nil {
				return err
			}
			var st *study.Definition
			if len(args) == 2 {
				st, err = study.Open(args[1], t)
			} else {
				st, err = openKept(s.out, t)
			}
			if err != nil {
				return err
			}
			return s.carryOut(cmd, st)
		},
	}
	s.addOut(cmd)
	s.addLocal(cmd)
	return cmd
}

// newSweepWork is the hidden command of worker processes; see sweep.Local. A worker must be the
// program that began the study, or its results would be of another one.
func newSweepWork(t *simulation.Tables) *cobra.Command {
	return &cobra.Command{
		Use:    "work",
		Short:  "Be a worker process of sweep",
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A terminal sends its signals to all its processes: who has started this worker
			// decides what becomes of it.
			signal.Ignore(os.Interrupt, syscall.SIGTERM)
			return sweep.Serve(cmd.InOrStdin(), cmd.OutOrStdout(), func(p sweep.Portable, b sweep.Basis) (sweep.Do, error) {
				// The parent starts the program by its path, where another one may stand by now.
				if b.Build != build() {
					return nil, errors.New("the program is not the one that has begun the study: has it been replaced? Begin again")
				}
				st, err := study.Read(p, t)
				if err != nil {
					return nil, err
				}
				return st.Do, nil
			})
		},
	}
}

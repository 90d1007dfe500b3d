package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/internal/enum"
)

// reproduction is one call of `gridslot reproduce`.
type reproduction struct {
	all    []reproduce.Experiment // those that can be named
	config reproduce.Config
	out    string // the folder of results, or ""
	list   bool   // only list them
}

// newReproduce is `gridslot reproduce`. An experiment that is done is kept in the folder of --out,
// an experiment that is under way in a folder beside it, so that a call that was killed goes on.
func newReproduce(env Env) *cobra.Command {
	r := reproduction{all: reproduce.All()}
	cmd := &cobra.Command{
		Use:   "reproduce [NAME...|all]",
		Short: "Repeat published experiments and compare the figures",
		Long: `Repeat published experiments. Tables have the paper's figure, the figure of the
authors' program where it is known, and ours with a 95% interval; and whether the
paper's claims hold.

Without --cycles an experiment takes the number of cycles of its paper. With --out
each experiment writes a table (CSV, Markdown) and figures (SVG, PDF) as soon as it
is done, and at the end a register of the claims and verdicts (claims.csv,
claims.md). An interrupted or killed call continues where it stopped; only
experiments that measure time begin again.

Some experiments need logs, in the folder GRIDSLOT_TRACES, or published jobs and
schedules, in the folder GRIDSLOT_REFERENCE; 'all' leaves out experiments whose
files are missing.`,
		Example: "  gridslot reproduce all --cycles 200\n  gridslot reproduce placement --out results",
		RunE:    func(cmd *cobra.Command, args []string) error { return r.run(cmd, env, args) },
	}
	f := cmd.Flags()
	f.IntVar(&r.config.Cycles, "cycles", 0, "replications of each experiment (default: the published number)")
	f.Uint64Var(&r.config.Seed, "seed", 1, "seed of all random numbers")
	f.IntVar(&r.config.Workers, "workers", 0, "cycles at once (default: one a processor); results do not depend on it")
	folderFlag(cmd, &r.out, "out", "folder for tables and figures (default: none)")
	f.BoolVar(&r.list, "list", false, "list the experiments")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names := []cobra.Completion{"all"}
		for _, e := range r.all { // a title is read from a page, which takes milliseconds
			names = append(names, cobra.CompletionWithDesc(e.Name(), e.Title()))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// run runs the experiments one after the other. An error ends it and says what is kept.
func (r *reproduction) run(cmd *cobra.Command, env Env, args []string) error {
	switch {
	case r.list:
		for _, e := range r.all {
			if _, err := fmt.Fprintf(env.Stdout, "%-14s %s\n", e.Name(), e.Title()); err != nil {
				return err
			}
		}
		return nil
	case cmd.Flags().Changed("cycles") && r.config.Cycles < 1:
		return usagef("--cycles must be 1 or more, not %d", r.config.Cycles)
	case cmd.Flags().Changed("workers") && r.config.Workers < 1:
		return usagef("--workers must be 1 or more, not %d", r.config.Workers)
	}
	chosen, err := chooseExperiments(r.all, args)
	if err != nil {
		return err
	}
	if r.out != "" {
		close, err := r.open()
		if err != nil {
			return err
		}
		defer close()
	}
	// What is done so far is for the error: a user of a call of days wants to know what is kept.
	var done []string
	for _, e := range chosen {
		err := r.one(cmd.Context(), env, e)
		if leftOut(e, args, err) {
			fmt.Fprintf(env.Stderr, "gridslot: %s: left out: %v\n", e.Name(), err)
			continue
		}
		if err != nil {
			kept := "nothing was finished"
			if len(done) > 0 {
				kept = "finished: " + strings.Join(done, ", ")
				if r.out != "" {
					kept += " (kept in " + r.out + ")"
				}
			}
			if _, missing := os.Stat(r.unfinished(e)); r.out != "" && missing == nil {
				kept += fmt.Sprintf("; what is done of %s is kept as well, and the same call goes on from there", e.Name())
			}
			if errors.Is(err, context.Canceled) {
				return fmt.Errorf("interrupted during %s; %s", e.Name(), kept)
			}
			return fmt.Errorf("%s: %w; %s", e.Name(), err, kept)
		}
		done = append(done, e.Name())
	}
	if r.out == "" {
		return nil
	}
	return reproduce.WriteRegister(r.out, r.all)
}

// leftOut reports whether e failed for want of data and was not asked for by its name: of all
// experiments those are done that can be.
func leftOut(e reproduce.Experiment, names []string, err error) bool {
	var missing *reproduce.MissingError
	return errors.As(err, &missing) && !slices.Contains(names, e.Name())
}

// open makes the folder this call's own until close is called, and tells experiments the build, so
// that what another build has kept of them is not mixed in. The names are those of the files that a
// killed call may have left unfinished.
func (r *reproduction) open() (close func(), err error) {
	r.config.Build = sweep.Build(Version)
	files := []string{"claims."}
	for _, e := range r.all {
		files = append(files, e.Name()+".", e.Name()+"-")
	}
	dir, err := outdir.Open(r.out, files...)
	return dir.Close, err
}

// unfinished returns the folder of what is done of an experiment that is under way.
func (r *reproduction) unfinished(e reproduce.Experiment) string {
	return filepath.Join(r.out, e.Name()+"-unfinished")
}

// one runs an experiment, or shows what an earlier call kept of it. What is under way is kept in
// the folder unfinished, and removed once the results are saved.
func (r *reproduction) one(ctx context.Context, env Env, e reproduce.Experiment) error {
	if r.out != "" {
		if kept, ok := reproduce.Saved(r.out, Version, e, r.config); ok {
			fmt.Fprintf(env.Stderr, "gridslot: %s: taken from %s\n", e.Name(), r.out)
			if err := os.RemoveAll(r.unfinished(e)); err != nil { // of a call that was killed just before it was removed
				return err
			}
			_, err := fmt.Fprintf(env.Stdout, "%s\n", kept)
			return err
		}
	}
	const steps = 1000 // how many cycles there are is known only once it runs
	var thousandths atomic.Int64
	c := r.config
	if r.out != "" {
		c.Dir = r.unfinished(e)
	}
	c.Progress = func(done, total int) { thousandths.Store(int64(done) * steps / int64(total)) }
	stop := showProgress(env.Stderr, e.Name, steps, thousandths.Load)
	table, err := e.Run(ctx, c)
	stop()
	if err != nil {
		return err
	}
	if r.out != "" {
		if err := reproduce.Save(r.out, Version, e, r.config, &table); err != nil {
			return err
		}
		if err := os.RemoveAll(c.Dir); err != nil {
			return err
		}
	}
	if err := table.WriteMarkdown(env.Stdout); err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, "\n")
	return err
}

// chooseExperiments returns the experiments of these names, in this order; "all" stands for all of
// them.
func chooseExperiments(all []reproduce.Experiment, names []string) ([]reproduce.Experiment, error) {
	if len(names) == 0 {
		return nil, usagef("name experiments, or all of them with 'all'; --list shows them")
	}
	var chosen []reproduce.Experiment
	for _, name := range names {
		if name == "all" {
			chosen = append(chosen, all...)
			continue
		}
		i := slices.IndexFunc(all, func(e reproduce.Experiment) bool { return e.Name() == name })
		if i < 0 {
			var known []string
			for _, e := range all {
				known = append(known, e.Name())
			}
			return nil, usagef("no experiment is called %q; --list shows them%s", name, enum.Suggestion(name, known))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

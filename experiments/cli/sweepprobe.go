package cli

// The short probe of `gridslot sweep --dry-run`.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// A probe must be over while somebody waits: it ends after probeTime, or after probeRuns runs.
const (
	probeTime = 10 * time.Second // that a probe takes at most
	probeRuns = 64               // that it consists of at most
)

// outlook tells what a study will take, from a probe of some of its runs. It writes nothing.
func (s *sweeping) outlook(cmd *cobra.Command, st *study.Definition) error {
	plan, err := s.study(cmd, st)
	if err != nil {
		return err
	}
	there, err := plan.Look()
	if err != nil {
		return err
	}
	out, status, missing := cmd.OutOrStdout(), there.Status(), there.Missing()
	fmt.Fprintf(out, "%d runs: %d are done, %d have failed, %d are to be done\n", status.Units, status.Done, status.Failed(), len(missing))
	if len(missing) == 0 {
		return nil
	}
	workers := s.workers
	p := probe{times: map[string]mean{}}
	if err := p.run(cmd.Context(), s, &plan, sampleOf(missing)); err != nil {
		return err
	}
	if p.runs == 0 {
		fmt.Fprintf(out, "none of those tried was done within %v: they take longer than %s on %d workers\n",
			probeTime, roughly(probeTime*time.Duration(len(missing))/time.Duration(workers)), workers)
		return nil
	}
	// Memory may allow fewer workers than there are.
	if room := cmp.Or(s.memory, hostmem.Share()); p.peak > 0 && int64(workers)*p.peak > room {
		workers = int(max(1, room/p.peak))
		fmt.Fprintf(out, "one takes up to %s of memory, of which there are %s: %d at a time\n", hostmem.Size(p.peak), hostmem.Size(room), workers)
	}
	about := "about"
	if p.cut {
		about = "more than"
	}
	fmt.Fprintf(out, "they take %s %s on %d workers, as %d of them tell that were tried\n", about, roughly(p.total(missing)/time.Duration(workers)), workers, p.runs)
	if p.failed > 0 {
		fmt.Fprintf(out, "%d of those tried failed; the first: %s\n", p.failed, harmless(p.first))
	}
	return nil
}

// kindsOf returns names for what a run is like, the narrowest first: what it takes depends on the
// trace and the machine above all, and on the policy. The last name, "", is of all runs.
func kindsOf(u sweep.Unit) []string {
	trace := u.Value("trace") + "\x00" + u.Value("scenario") + "\x00" + u.Value("domain") + "\x00" + u.Value("grid")
	return []string{trace + "\x00" + u.Value("policy"), trace, ""}
}

// sampleOf returns some units of each narrowest kind, at most probeRuns: all kinds have one before
// any has two.
func sampleOf(units []sweep.Unit) (sample []sweep.Unit) {
	kinds, of := []string{}, map[string][]sweep.Unit{}
	for _, u := range units {
		k := kindsOf(u)[0]
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], u)
	}
	for _, k := range kinds {
		of[k] = scattered(of[k])
	}
	for i := 0; len(sample) < min(probeRuns, len(units)); i++ {
		for _, k := range kinds {
			if i < len(of[k]) && len(sample) < probeRuns {
				sample = append(sample, of[k][i])
			}
		}
	}
	return sample
}

// scattered returns units in another order: the middle, the quarters, the eighths, ... Any
// beginning of it is like the whole, whatever parameters vary slowly.
func scattered(units []sweep.Unit) (order []sweep.Unit) {
	taken := make([]bool, len(units))
	for parts := 2; len(order) < min(probeRuns, len(units)); parts *= 2 {
		for odd := 1; odd < parts; odd += 2 {
			if at := len(units) * odd / parts; !taken[at] {
				taken[at] = true
				order = append(order, units[at])
			}
		}
	}
	return order
}

// probe has the time and memory that a few runs took. Its store is called from several goroutines.
type probe struct {
	mu     sync.Mutex
	times  map[string]mean // by kinds
	runs   int
	failed int
	first  string // failure
	// peak is the most memory that a run took, in bytes; 0 if that is not known.
	peak int64
	cut  bool // there was no time for the whole sample
}

// mean is a sum of times and of how many they are.
type mean struct {
	sum time.Duration
	n   int
}

// run does runs until the time is over, and stores none of them. That the time is over is no error.
func (p *probe) run(ctx context.Context, s *sweeping, plan *sweep.Study, sample []sweep.Unit) error {
	engine, err := s.local()
	if err != nil {
		return err
	}
	own, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	aside := *plan
	aside.Dir = "" // nothing is stored
	err = engine.Run(own, &sweep.Work{Study: &aside, Units: sample, Store: p.store})
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	p.close(sample)
	return err
}

// close notes whether the time was over before the whole sample was done. What was not done is what
// takes longest, so that the total is too low then.
func (p *probe) close(sample []sweep.Unit) { p.cut = p.runs < len(sample) }

// store takes in what a run took; it stands in for the study's own store.
func (p *probe) store(u sweep.Unit, o sweep.Outcome) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.Failure != nil {
		if p.failed++; p.failed == 1 {
			p.first = u.String() + ": " + o.Failure.Message
		}
	}
	p.runs++
	p.peak = max(p.peak, o.Usage.Peak)
	for _, k := range kindsOf(u) {
		m := p.times[k]
		p.times[k] = mean{m.sum + o.Usage.Time, m.n + 1}
	}
	return nil
}

// total returns about what all units take, one after the other: each as long as the units of its
// narrowest kind that were tried.
func (p *probe) total(units []sweep.Unit) (total time.Duration) {
	for _, u := range units {
		for _, k := range kindsOf(u) {
			if m := p.times[k]; m.n > 0 {
				total += m.sum / time.Duration(m.n)
				break
			}
		}
	}
	return total
}

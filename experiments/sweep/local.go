package sweep

// Engines of this machine: InProcess, Local with a worker process a slot, and Later, which does
// nothing.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/internal/parallel"
)

// InProcess carries out units in goroutines of this process. A unit that panics
// fails alone; a unit that ignores its time limit is left behind. InProcess cannot
// keep a unit from taking all memory.
type InProcess struct {
	Workers int // units at a time; 0 means as many as there are processors
}

// Run implements Engine.
func (e InProcess) Run(ctx context.Context, w *Work) error {
	if w.Limit.Memory > 0 {
		w.Tell("units in one process share its memory: the limit of memory is not kept")
	}
	return parallel.Each(ctx, slotsFor(e.Workers, w.Units), len(w.Units), func(ctx context.Context, _, i int) error {
		u := w.Units[i]
		return w.Store(u, w.Do(ctx, u))
	})
}

// Later carries out nothing: the units stay missing, for others to do.
type Later struct{}

// Run implements Engine.
func (Later) Run(context.Context, *Work) error { return nil }

// slotsFor returns how many units are under way at a time: workers, 0 or less for as many as Go has
// threads for (GOMAXPROCS), and no more than there are units.
func slotsFor(workers int, units []Unit) int {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	return min(workers, len(units))
}

// Local carries out units on this machine. Where the study can be read by other
// processes (Work.Portable) and a Command is given, each slot has a worker process
// that does unit after unit: a unit that panics, exits, hangs or takes too much
// memory then fails alone. Otherwise Local does what InProcess does.
//
// The slots share Memory in equal parts, and a worker that takes more than its part is
// ended. Its unit is done again when all others are through, on half as many slots of
// twice the part; a unit that needs more than all of Memory fails:
//
//	slots   ####  each unit in a quarter of the memory
//	        ##    units that needed more, in a half each
//	        #     units that needed more than that, one at a time
type Local struct {
	// Workers is the number of units that are under way at once; 0 means the number of cores
	// (GOMAXPROCS).
	Workers int
	// Command starts a worker: a program that calls Serve with its standard input
	// and output.
	Command []string
	// Memory is the largest number of bytes of all workers together; 0 means three quarters of the
	// memory of the machine, or of the process's control group.
	Memory int64

	start time.Duration // least time that a worker has to come to work; 0 means shortestStart
}

// Run implements Engine.
func (l Local) Run(ctx context.Context, w *Work) error {
	if w.Portable == nil || len(l.Command) == 0 {
		return InProcess{Workers: l.Workers}.Run(ctx, w)
	}
	l.Memory = cmp.Or(l.Memory, hostmem.Share())
	// A study that needs long to read, such as a log of a year, belongs to units that may take
	// long: a limit of an hour a unit leaves a worker an hour to begin.
	l.start = max(cmp.Or(l.start, shortestStart), w.Limit.Time)
	slots := slotsFor(l.Workers, w.Units)
	// The rounds of the table above: each does what the round before it could not hold.
	for units := w.Units; len(units) > 0; slots = min(slots/2, len(units)) {
		outgrown, err := l.round(ctx, w, units, slots)
		if err != nil {
			return err
		}
		if len(outgrown) > 0 {
			w.Tell("%d runs take more than %s of memory each: they are done now, fewer at a time", len(outgrown), hostmem.Size(l.Memory/int64(slots)))
		}
		units = outgrown
	}
	return nil
}

// round carries out units on a number of slots and returns, in their order, those
// that have outgrown their slot. One slot has all memory: nothing outgrows it.
func (l Local) round(ctx context.Context, w *Work, units []Unit, slots int) (outgrown []Unit, err error) {
	// Equal parts; a division's remainder of some bytes is nobody's.
	all := make([]slot, slots)
	for i := range all {
		all[i] = slot{Local: l, work: w, memory: l.Memory / int64(slots), only: slots == 1}
		defer all[i].close()
	}
	var mu sync.Mutex
	err = parallel.Each(ctx, slots, len(units), func(ctx context.Context, slot, i int) error {
		u := units[i]
		o, err := all[slot].do(ctx, u)
		if errors.Is(err, errOutgrown) {
			mu.Lock()
			defer mu.Unlock()
			outgrown = append(outgrown, u)
			return nil
		}
		if err != nil {
			return err
		}
		return w.Store(u, o)
	})
	slices.SortFunc(outgrown, func(a, b Unit) int { return a.Index - b.Index })
	return outgrown, err
}

// slot is a place for a worker process, which it starts when the first unit comes and again after
// one has failed. Its methods are called by one goroutine.
type slot struct {
	Local
	work    *Work
	memory  int64 // bytes that the process may take
	only    bool  // there are no other slots
	process *process
}

// errOutgrown reports a unit that needs more memory than its slot has.
var errOutgrown = errors.New("the unit needs more memory than its slot has")

// shortestStart is the least time that a worker has to come to work. Without an end to it, a worker
// that is stopped at its beginning would hold up the study for ever.
const shortestStart = 30 * time.Second

// do carries out a unit, several times where its worker goes away (Lost), since that is more often
// the machine's fault than the unit's. The error is errOutgrown, the end of the context, or that no
// worker could be started.
func (s *slot) do(ctx context.Context, u Unit) (Outcome, error) {
	for tries := 1; ; tries++ {
		if err := s.open(ctx); err != nil {
			return Outcome{}, err
		}
		o, err := s.try(ctx, u)
		switch limit := s.work.Limit.Memory; {
		case err != nil || o.Failure == nil:
			return o, err
		case o.Failure.Kind == Lost && tries < s.tries():
			continue
		// Above its part of the memory, and not above what the study allows a unit: a wider slot
		// may hold it.
		case o.Failure.Kind == Large && !s.only && (limit == 0 || o.Usage.Peak <= limit):
			return Outcome{}, errOutgrown
		}
		o.Failure.Tries = tries
		return o, nil
	}
}

// tries returns how often a unit is begun at most, as is a worker.
func (s *slot) tries() int { return cmp.Or(s.work.Limit.Tries, 3) }

// open sees to it that there is a process that has read the study. A refusal ends the study: what
// one worker cannot read none can. A process that dies is started again, some times.
func (s *slot) open(ctx context.Context) error {
	if s.process != nil && !s.process.gone() {
		return nil
	}
	for tries := 1; ; tries++ {
		s.close()
		p, err := startProcess(s.Command, s.environment())
		if err != nil {
			return fmt.Errorf("starting a worker: %w", err)
		}
		s.process = p
		a, _, why := p.ask(ctx, order{Study: &opening{*s.work.Portable, s.work.Basis, s.work.Dir}}, Limit{Time: s.start})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case a.Refused != "":
			return errors.New("starting a worker: " + a.Refused)
		case why == nil:
			return nil
		case tries == s.tries():
			return fmt.Errorf("starting a worker: it ended before it was ready (%s):\n%s", p.state(), p.log.last())
		}
	}
}

// try carries out a unit in the process. The process goes on to the next unit only after a row:
// after a unit that has failed nobody knows what it has left behind, and the next one gets another
// process.
//
// The peak is the larger of what the parent saw from outside and of what the worker says of itself.
func (s *slot) try(ctx context.Context, u Unit) (Outcome, error) {
	began := time.Now()
	limit, name := s.limit()
	a, peak, why := s.process.ask(ctx, order{Unit: &u}, limit)
	o := a.Outcome
	o.Usage.Peak, o.Usage.Host = max(peak, o.Usage.Peak), hostname()
	switch {
	case why != nil:
	case a.Key != u.Key:
		return Outcome{}, fmt.Errorf("a worker answered for the unit %q in place of %q", a.Key, u.Key)
	case s.work.Limit.Memory > 0 && o.Usage.Peak > s.work.Limit.Memory: // a peak between two looks
		why = &Failure{Kind: Large}
	case o.Failure == nil:
		return o, nil
	}
	// From here on the unit has failed, or was interrupted.
	ended := s.process
	s.close()
	s.clear(u, ended)
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if why != nil {
		o = Outcome{Failure: why, Usage: o.Usage}
		o.Usage.Time = time.Since(began)
		if why.Message == "" {
			why.Message = fmt.Sprintf("it took %s of memory, above %s: %s", hostmem.Size(o.Usage.Peak), name, hostmem.Size(limit.Memory))
		}
	}
	if o.Failure.Log == "" {
		o.Failure.Log = ended.log.last()
	}
	return o, nil
}

// limit returns what a unit may take in this slot, the lower of the study's limit and the slot's
// part, and the name of its limit of memory for messages.
func (s *slot) limit() (limit Limit, name string) {
	limit = s.work.Limit
	if limit.Memory > 0 && (s.memory == 0 || limit.Memory <= s.memory) {
		return limit, "the limit of a run"
	}
	limit.Memory = s.memory
	return limit, "what there is for all runs (--memory)"
}

// clear removes the files that an ended process has left of a unit under way, which it could not
// settle itself. What cannot be removed now, tidy removes when the folder is next opened alone.
func (s *slot) clear(u Unit, ended *process) {
	if root, err := os.OpenRoot(s.work.Dir); s.work.Dir != "" && err == nil {
		_ = root.RemoveAll(underWay(u.Key, ended.cmd.Process.Pid))
		root.Close()
	}
}

// close ends the process and waits for its end.
func (s *slot) close() {
	if s.process != nil {
		s.process.end()
		s.process = nil
	}
}

// environment returns the variables of a worker: this process's, and where the user has not set
// them, GOMAXPROCS=1, since there is a worker for each core, and a GOMEMLIMIT of nine tenths of its
// memory, so that its garbage collector works harder before the limit ends it.
func (s *slot) environment() []string {
	env := os.Environ()
	add := func(name, value string) {
		if os.Getenv(name) == "" {
			env = append(env, name+"="+value)
		}
	}
	add("GOMAXPROCS", "1")
	if limit, _ := s.limit(); limit.Memory > 0 {
		add("GOMEMLIMIT", fmt.Sprint(limit.Memory-limit.Memory/10))
	}
	return env
}

package sweep

// A pool of worker processes, and the memory that they share.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
)

// pool carries out units in worker processes, each of which does many, one after
// the other. Workers are started as they are needed and end with the pool, and with
// this process however it ends.
type pool struct {
	work    *Work
	command []string
	budget  int64 // bytes of all workers; 0 where there is no limit
	start   time.Duration

	mu    sync.Mutex
	freed *sync.Cond // something ended
	all   map[*worker]bool
	idle  []*worker
	peaks map[Param]int64 // of units with that parameter, the most that one took
	told  bool            // that memory holds units back

	killings atomic.Int64 // by the system, for want of memory; a second ago

	quit    chan struct{}
	watcher sync.WaitGroup
}

// watchEvery is how often the sizes of workers are looked at. A process fills some
// ten megabytes in that time.
const watchEvery = 10 * time.Millisecond

// newPool makes a pool for the units of a study.
func (l Local) newPool(w *Work) *pool {
	p := &pool{
		work: w, command: l.Command, budget: l.Memory, start: cmp.Or(l.start, shortestStart),
		all: map[*worker]bool{}, peaks: map[Param]int64{}, quit: make(chan struct{}),
	}
	p.freed = sync.NewCond(&p.mu)
	if p.budget == 0 {
		p.budget = hostmem.Share()
	}
	p.killings.Store(outOfMemoryKills())
	p.watcher.Go(p.watch)
	return p
}

// close ends all workers, whatever they do.
func (p *pool) close() {
	close(p.quit)
	p.watcher.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.all {
		w.close()
	}
}

// do carries out a unit; any number of them side by side. Its error is that the
// context has ended, or that no worker could be started.
func (p *pool) do(ctx context.Context, u Unit) (Outcome, error) {
	alone := false
	for tries := 1; ; tries++ {
		w, err := p.take(ctx, u, alone)
		if err != nil {
			return Outcome{}, err
		}
		o, err := w.do(ctx, u)
		p.put(w, u, o.Usage.Peak)
		var start *startError
		switch {
		case errors.Is(err, errStopped):
			return Outcome{}, context.Cause(ctx)
		case errors.Is(err, errOutgrown):
			alone = true
			tries-- // it was only in the others' way
			continue
		case errors.As(err, &start):
			if tries < p.tries() && !start.final {
				continue
			}
			return Outcome{}, err
		case errors.Is(err, errLost) && tries < p.tries():
			continue
		}
		if o.Failure != nil {
			o.Failure.Tries = tries
		}
		o.Usage.Host = hostname()
		return o, nil
	}
}

func (p *pool) tries() int {
	if p.work.Limit.Tries > 0 {
		return p.work.Limit.Tries
	}
	return 3
}

// take waits until there is memory for the unit and returns a worker for it.
func (p *pool) take(ctx context.Context, u Unit, alone bool) (*worker, error) {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.freed.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for ctx.Err() == nil && !p.room(u, alone) {
		if !p.told {
			p.told = true
			p.work.Tell("runs take up to %s of memory each: of %s there is room for fewer at once", hostmem.Size(p.need(u)), hostmem.Size(p.budget))
		}
		p.freed.Wait()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var w *worker
	if n := len(p.idle); n > 0 {
		w, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		w = &worker{pool: p}
	}
	w.busy, w.alone, w.beside, w.need = true, alone, false, p.need(u)
	for other := range p.all {
		if other != w && other.busy {
			other.beside, w.beside = true, true
		}
	}
	p.all[w] = true
	return w, nil
}

// put takes a worker back, and what its unit took.
func (p *pool) put(w *worker, u Unit, peak int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.busy = false
	p.idle = append(p.idle, w)
	for _, param := range u.Params {
		p.peaks[param] = max(p.peaks[param], peak)
	}
	p.freed.Broadcast()
}

// need is how much memory a unit is thought to take. Each of its parameters bounds
// it by the most that any unit with that parameter took; the tightest bound counts:
// where traces differ in size, it is the trace's.
func (p *pool) need(u Unit) int64 {
	need, known := int64(0), false
	for _, param := range u.Params {
		if peak, ok := p.peaks[param]; ok && (!known || peak < need) {
			need, known = peak, true
		}
	}
	return need
}

// room reports whether a unit can be begun beside those under way: never beside one
// that is tried alone. Where there are none it always can.
func (p *pool) room(u Unit, alone bool) bool {
	busy, sum := 0, p.need(u)
	for w := range p.all {
		if w.busy {
			if w.alone {
				return false
			}
			busy++
			sum += max(w.need, w.size)
		}
	}
	return busy == 0 || (!alone && (p.budget == 0 || sum <= p.budget))
}

// watch looks at the sizes of the workers until the pool is closed.
func (p *pool) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			p.check()
			if n%100 == 0 {
				p.killings.Store(outOfMemoryKills())
			}
		case <-p.quit:
			return
		}
	}
}

// check ends the worker whose unit is above its limit and, where all together are
// above theirs, those that are idle and then the largest: where it was beside others
// its unit is tried again alone.
func (p *pool) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum, idle int64
	var largest *worker
	busy := 0
	for w := range p.all {
		w.size = w.look()
		sum += w.size
		if !w.busy {
			idle += w.size
			continue
		}
		busy++
		if limit := p.work.Limit.Memory; limit > 0 && w.size > limit {
			w.end(tooLarge(w.size, limit, "the limit of a run"))
		}
		if largest == nil || w.size > largest.size {
			largest = w
		}
	}
	if p.budget == 0 || sum <= p.budget {
		return
	}
	for _, w := range p.idle {
		w.close()
	}
	switch {
	case largest == nil || sum-idle <= p.budget:
	case busy == 1:
		largest.end(tooLarge(largest.size, p.budget, "what there is for all runs (--memory)"))
	default:
		largest.end(errOutgrown)
	}
}

// wasBeside reports whether other units were under way at any time of that of w.
func (p *pool) wasBeside(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return w.beside
}

func tooLarge(size, limit int64, what string) error {
	return &endedError{Large, fmt.Sprintf("it took %s of memory, above %s: %s", hostmem.Size(size), what, hostmem.Size(limit))}
}

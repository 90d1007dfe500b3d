package sweep

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// InProcess carries out units in goroutines of this process. A unit that panics
// fails alone; what ignores its time limit is left behind. It cannot keep a unit
// from taking all memory.
type InProcess struct {
	Workers int // units at a time; 0 means as many as there are processors
}

// Run implements Engine.
func (e InProcess) Run(ctx context.Context, w *Work) error {
	if w.Limit.Memory > 0 {
		w.Tell("units in one process share its memory: the limit of memory is not kept")
	}
	return each(ctx, e.Workers, w.Units, func(ctx context.Context, u Unit) error {
		return w.Store(u, w.Do(ctx, u))
	})
}

// each calls do for all units, so many at a time, begun in their order, and ends with
// the first error.
func each(ctx context.Context, workers int, units []Unit, do func(context.Context, Unit) error) error {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, len(units)) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				if err := do(ctx, units[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

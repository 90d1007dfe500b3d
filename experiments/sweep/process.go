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
	workers := e.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	if w.Limit.Memory > 0 {
		w.Tell("units in one process share its memory: the limit of memory is not kept")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, len(w.Units)) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(w.Units) {
					return
				}
				if err := w.Store(w.Units[i], w.Do(ctx, w.Units[i])); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

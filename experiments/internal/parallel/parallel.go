// Package parallel does many things with a bounded number of goroutines.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, begun in that order, on the given number of workers (1 if it is less),
// and waits for all. A worker does one call at a time; do is told its number, from 0. The first error
// ends the context that the other calls get, and calls that have not begun are left out; Each returns
// that error. If ctx itself ends, Each returns its cause.
func Each(ctx context.Context, workers, n int, do func(ctx context.Context, worker, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The number of calls that were given out.
	var next atomic.Int64
	var group sync.WaitGroup
	for worker := range max(1, min(workers, n)) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, worker, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	// The deferred cancel has not run yet, so that the cause is the first error, or nil.
	return context.Cause(ctx)
}

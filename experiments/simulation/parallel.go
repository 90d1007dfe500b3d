package simulation

import (
	"context"
	"sync"
)

// Each calls do for 0 to n-1 on the given number of workers (1 if it is less), begun in that order,
// and waits for all. The first error ends the context that the other calls get, and calls that have
// not begun are left out; Each returns that error. If ctx itself ends, Each returns its error. It
// is for the parts of one run; runs that stand alone, such as replications, are units of package
// sweep.
func Each(ctx context.Context, n, workers int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	indices := make(chan int)
	var group sync.WaitGroup
	for range max(1, min(workers, n)) {
		group.Go(func() {
			for i := range indices {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	// A worker takes the next index when it is free; none is handed out after an error.
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case indices <- i:
		case <-ctx.Done():
		}
	}
	close(indices)
	group.Wait()
	// The deferred cancel has not run yet, so that the cause is the first error, or nil.
	return context.Cause(ctx)
}

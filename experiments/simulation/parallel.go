package simulation

import (
	"context"
	"sync"
)

// Each calls do for 0 to n-1 on so many workers, begun in that order, and
// waits for all. The first error ends the context that the others are given,
// and what has not begun is left out; it is returned. Where ctx itself ends,
// its error is. It is for the parts of one run; runs that stand alone, such as
// replications, are units of package sweep.
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
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case indices <- i:
		case <-ctx.Done():
		}
	}
	close(indices)
	group.Wait()
	return context.Cause(ctx)
}

package sweep

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// Local carries out units on this machine. Where the study can be read by other
// processes (Work.Portable) and a Command is given, they are processes: a unit that
// panics, exits, hangs or takes too much memory then fails alone. Otherwise units
// are carried out in this process, where only those that panic do.
type Local struct {
	// Workers is how many units are under way at once; 0 is the number of cores.
	Workers int
	// Command starts a worker: a program that calls Serve with its standard input
	// and output.
	Command []string
	// Memory is how many bytes all workers together may take. Where they come to need
	// more, fewer units are under way at once; a unit that needs more by itself fails.
	// 0 is three quarters of what the machine, or the process's control group, has.
	Memory int64
}

// Run implements Engine.
func (l Local) Run(ctx context.Context, w *Work) error {
	workers := l.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	do := func(ctx context.Context, u Unit) (Outcome, error) { return w.Do(ctx, u), ctx.Err() }
	if w.Portable != nil && len(l.Command) > 0 {
		pool := l.Pool(w)
		defer pool.Close()
		do = pool.Do
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan Unit)
	var group sync.WaitGroup
	for range min(workers, len(w.Units)) {
		group.Go(func() {
			for u := range next {
				o, err := do(ctx, u)
				if err == nil {
					err = w.Store(u, o)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, u := range w.Units {
		select {
		case next <- u:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	group.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}

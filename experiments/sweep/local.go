package sweep

import (
	"context"
	"time"
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

	start time.Duration // that a worker has at least to come to work; 0 is shortestStart
}

// Run implements Engine.
func (l Local) Run(ctx context.Context, w *Work) error {
	if w.Portable == nil || len(l.Command) == 0 {
		return InProcess{Workers: l.Workers}.Run(ctx, w)
	}
	p := l.newPool(w)
	defer p.close()
	return each(ctx, l.Workers, w.Units, func(ctx context.Context, u Unit) error {
		o, err := p.do(ctx, u)
		if err != nil {
			return err
		}
		return w.Store(u, o)
	})
}

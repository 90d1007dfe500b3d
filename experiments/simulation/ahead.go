package simulation

// The workload is read and its jobs are made ahead of the clock, many at a time, and rows of files
// become text behind it (package metrics). So a processor repeats one piece of code at a time, and
// needs not fetch all of it anew for each job. With a processor to spare both happen beside the run:
//
//	goroutine   reads a batch of jobs   reads the next one ...
//	run                                 simulates the first batch ...
//	goroutine                                                 writes rows ...

import (
	"sync"

	"github.com/gridslot/gridslot/entity"
)

// aheadJobs are the jobs of a source that is read in batches, ahead of the clock. The source must
// not depend on what happens in the run.
type aheadJobs struct {
	// from is read by Next, or nil if a goroutine reads the source.
	from entity.Source
	// batches is closed when the source has ended. Invariant: err and panicked are written before
	// that, and read only after it.
	batches chan []*entity.Job
	// batch is the rest of the latest batch.
	batch    []*entity.Job
	quit     chan struct{}
	closing  sync.Once
	err      error // of the source, once batches is closed
	panicked any   // value with which the source has panicked, once batches is closed
}

// aheadBatch is the number of jobs that are read at a time: enough that handing them over costs
// nothing beside reading. At most aheadBatches batches wait, so that memory stays small.
const (
	aheadBatch   = 256
	aheadBatches = 4
)

// readAhead begins to read a source ahead of the clock: on a goroutine of the run if there is a
// processor for that, and otherwise in Next.
func (x *session) readAhead(from entity.Source) *aheadJobs {
	a := &aheadJobs{batches: make(chan []*entity.Job, aheadBatches), quit: make(chan struct{})}
	x.ahead = a
	if !x.settings.beside {
		a.from = from
		close(a.batches)
		return a
	}
	x.onClose(a.close)
	x.spent.run(func() {
		defer close(a.batches)
		for more := true; more; {
			var batch []*entity.Job
			batch, more = a.read(from)
			select {
			case a.batches <- batch:
			case <-a.quit:
				return
			}
		}
	})
	return a
}

// read reads the next batch; more is false if the source has ended or has panicked. The panic goes
// on in the goroutine of the run, where it would have been without reading ahead.
func (a *aheadJobs) read(from entity.Source) (batch []*entity.Job, more bool) {
	defer func() {
		if a.panicked = recover(); a.panicked != nil {
			more = false
		}
	}()
	batch = make([]*entity.Job, 0, aheadBatch)
	for len(batch) < aheadBatch {
		j, ok := from.Next()
		if !ok {
			a.err = sourceError(from)
			return batch, false
		}
		batch = append(batch, j)
	}
	return batch, true
}

// Next implements entity.Source.
func (a *aheadJobs) Next() (*entity.Job, bool) {
	if len(a.batch) == 0 && a.from != nil {
		var more bool
		if a.batch, more = a.read(a.from); !more {
			a.from = nil
		}
	}
	for len(a.batch) == 0 {
		batch, more := <-a.batches
		if !more {
			if a.panicked != nil {
				panic(a.panicked) // as the source would have done here
			}
			return nil, false
		}
		a.batch = batch
	}
	j := a.batch[0]
	a.batch = a.batch[1:]
	return j, true
}

// Err returns the error of the source, once Next has returned false.
func (a *aheadJobs) Err() error { return a.err }

// close ends the goroutine and waits for that: nobody else reads the source afterwards.
func (a *aheadJobs) close() {
	a.closing.Do(func() { close(a.quit) })
	for range a.batches {
	}
}

package simulation

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// stopwatch measures what a run has cost: processor time, or time on the wall clock.
type stopwatch struct {
	locked bool
	// thread is the processor time of the thread when the watch began; began is the clock's time
	// then.
	thread time.Duration
	began  time.Time
	beside sync.WaitGroup
	others atomic.Int64 // what goroutines of run have spent
}

// newStopwatch begins to measure. With lockThread it locks the goroutine to its thread until stop, and
// measures the processor time of that thread; otherwise the time on the wall clock.
func newStopwatch(lockThread bool) *stopwatch {
	w := &stopwatch{locked: lockThread, began: time.Now()}
	if lockThread {
		runtime.LockOSThread()
		w.thread = threadTime()
	}
	return w
}

// run runs do on another goroutine, whose processor time counts as time of the run.
func (w *stopwatch) run(do func()) {
	w.beside.Go(func() {
		if w.locked && tellsThreads {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began := threadTime()
			defer func() { w.others.Add(int64(threadTime() - began)) }()
		}
		do()
	})
}

// seconds returns the time of the run so far in seconds, to a microsecond: the processor time if
// newStopwatch locked the thread, otherwise the time on the wall clock. It waits for the goroutines of
// run.
func (w *stopwatch) seconds() float64 {
	w.beside.Wait()
	spent := time.Since(w.began)
	if w.locked {
		spent = threadTime() - w.thread + time.Duration(w.others.Load())
	}
	return spent.Round(time.Microsecond).Seconds()
}

// stop lets go of the thread. It must be called on the goroutine that called newStopwatch.
func (w *stopwatch) stop() {
	if w.locked {
		runtime.UnlockOSThread()
	}
}

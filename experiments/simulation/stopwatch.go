package simulation

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Watch measures what a run has cost: processor time, or time on the wall clock.
type Watch struct {
	locked bool
	// thread is the processor time of the thread when the watch began; began is the clock's time
	// then.
	thread time.Duration
	began  time.Time
	beside sync.WaitGroup
	others atomic.Int64 // what goroutines of Go have spent
}

// Stopwatch begins to measure. With lockThread it locks the goroutine to its thread until Stop, and
// measures the processor time of that thread; otherwise the time on the wall clock.
func Stopwatch(lockThread bool) *Watch {
	w := &Watch{locked: lockThread, began: time.Now()}
	if lockThread {
		runtime.LockOSThread()
		w.thread = threadTime()
	}
	return w
}

// Go runs do on another goroutine, whose processor time counts as time of the run.
func (w *Watch) Go(do func()) {
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

// Seconds returns the time of the run so far in seconds, to a microsecond: the processor time if
// Stopwatch locked the thread, otherwise the time on the wall clock. It waits for the goroutines of
// Go.
func (w *Watch) Seconds() float64 {
	w.beside.Wait()
	spent := time.Since(w.began)
	if w.locked {
		spent = threadTime() - w.thread + time.Duration(w.others.Load())
	}
	return spent.Round(time.Microsecond).Seconds()
}

// Stop lets go of the thread. It must be called on the goroutine that called Stopwatch.
func (w *Watch) Stop() {
	if w.locked {
		runtime.UnlockOSThread()
	}
}

package simulation

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Watch measures what a run has cost.
type Watch struct {
	locked bool
	thread time.Duration
	began  time.Time
	beside sync.WaitGroup
	others atomic.Int64 // what goroutines of Go have spent
}

// Stopwatch begins to measure: the processor time of the calling thread, to
// which the goroutine is locked until Stop, or the time on the wall clock.
func Stopwatch(lockThread bool) *Watch {
	w := &Watch{locked: lockThread, began: time.Now()}
	if lockThread {
		runtime.LockOSThread()
		w.thread = threadTime()
	}
	return w
}

// Go runs do on another goroutine, whose processor time counts as that of the run.
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

// Seconds is what has been spent, to a microsecond. It waits for the goroutines of Go.
func (w *Watch) Seconds() float64 {
	w.beside.Wait()
	spent := time.Since(w.began)
	if w.locked {
		spent = threadTime() - w.thread + time.Duration(w.others.Load())
	}
	return spent.Round(time.Microsecond).Seconds()
}

// Stop lets go of the thread.
func (w *Watch) Stop() {
	if w.locked {
		runtime.UnlockOSThread()
	}
}

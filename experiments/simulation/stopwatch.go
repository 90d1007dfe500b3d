package simulation

import (
	"runtime"
	"time"
)

// Watch measures what a run has cost.
type Watch struct {
	locked bool
	thread time.Duration
	began  time.Time
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

// Seconds is what has been spent, to a microsecond.
func (w *Watch) Seconds() float64 {
	spent := time.Since(w.began)
	if w.locked {
		spent = threadTime() - w.thread
	}
	return spent.Round(time.Microsecond).Seconds()
}

// Stop lets go of the thread.
func (w *Watch) Stop() {
	if w.locked {
		runtime.UnlockOSThread()
	}
}

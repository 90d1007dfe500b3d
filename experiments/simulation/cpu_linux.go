package simulation

import (
	"syscall"
	"time"
)

// tellsThreads reports whether threadTime is of the calling thread alone.
const tellsThreads = true

// threadTime is the processor time that the calling thread has used, user and
// system.
func threadTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

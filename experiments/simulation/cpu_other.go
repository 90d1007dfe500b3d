//go:build !linux

package simulation

import "time"

const tellsThreads = false

// threadTime is the wall clock: other systems do not tell the processor time
// of a thread in a way that the standard library reaches.
func threadTime() time.Duration { return time.Since(programStart) }

var programStart = time.Now() // never changed

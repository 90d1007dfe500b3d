package entity

import "fmt"

// Overrun says what becomes of a job whose real runtime is above its estimate.
type Overrun uint8

const (
	OverrunKill   Overrun = iota // the job is cut off at its estimate
	OverrunExtend                // the job runs on to its real end; the plan learns of it as it happens. On named nodes it is cut off all the same
	OverrunRaise                 // the estimate is raised to the runtime before the scheduler sees it
)

var overrunNames = [...]string{"kill", "extend", "raise"}

func (o Overrun) String() string {
	if int(o) < len(overrunNames) {
		return overrunNames[o]
	}
	return fmt.Sprintf("Overrun(%d)", o)
}

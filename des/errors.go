package des

import "fmt"

// PastEventError reports an event scheduled before the present instant: a
// fault of the model, which would break causality.
type PastEventError struct {
	Now, At Time
	Phase   Phase
	Arg     uint64
	To      Handler
}

func (e *PastEventError) Error() string {
	return fmt.Sprintf("at %v an event was scheduled for %v, in the past (phase %d, arg %d, handler %T)", e.Now, e.At, e.Phase, e.Arg, e.To)
}

// OverflowError reports a delay that leads past the end of simulated time.
type OverflowError struct {
	Now, Delay Time
	To         Handler
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("at %v a delay of %v passes the end of simulated time (handler %T)", e.Now, e.Delay, e.To)
}

// EventLimitError reports that Config.MaxEvents was reached with events left.
type EventLimitError struct {
	Limit uint64
	Now   Time
}

func (e *EventLimitError) Error() string {
	return fmt.Sprintf("stopped at %v after the maximum of %d events", e.Now, e.Limit)
}

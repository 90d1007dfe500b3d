package des

import (
	"errors"
	"fmt"
)

// PastEventError reports an event scheduled before the present instant: a
// fault of the model, which would break causality.
type PastEventError struct {
	Now, At Time
	Phase   Phase
	Arg     uint64
	To      Handler
	// By is the event whose handler asked for it; the zero Event where the
	// program did so outside a run.
	By Event
}

func (e *PastEventError) Error() string {
	return fmt.Sprintf("at %v%s, an event for %s (phase %d, arg %d) was scheduled for %v, in the past",
		e.Now, by(e.By), handlerName(e.To), e.Phase, e.Arg, e.At)
}

// OverflowError reports a delay that leads to the end of simulated time,
// Forever, or past it.
type OverflowError struct {
	Now, Delay Time
	Phase      Phase
	Arg        uint64
	To         Handler
	By         Event // as in PastEventError
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("at %v%s, an event for %s (phase %d, arg %d) was scheduled %v later, past the end of simulated time",
		e.Now, by(e.By), handlerName(e.To), e.Phase, e.Arg, e.Delay)
}

func by(e Event) string {
	if e.to == nil {
		return ""
	}
	return fmt.Sprintf(", in %v", e)
}

// blame completes an error of the kernel's own with the event whose handler
// brought it about.
func blame(err error, e Event) {
	switch err := err.(type) {
	case *PastEventError:
		err.By = e
	case *OverflowError:
		err.By = e
	}
}

// EventLimitError reports that Config.MaxEvents was reached with events left.
type EventLimitError struct {
	Limit uint64
	Now   Time
}

func (e *EventLimitError) Error() string {
	return fmt.Sprintf("stopped at %v after the maximum of %d events", e.Now, e.Limit)
}

var (
	errNoHandler = errors.New("an event needs a handler")
	errNested    = errors.New("a handler must not run its own simulation")
)

package des

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// PanicError reports that a handler, or whatever it called, has panicked.
type PanicError struct {
	Now   Time   // when it happened
	By    string // who was being called, as far as entities tell (caller); or ""
	Place string // where: file and line
	Value any    // what was passed to panic
	Stack []byte // the calls that led to it
}

func (e *PanicError) Error() string {
	by := e.By
	if by == "" {
		by = "a handler"
	}
	return fmt.Sprintf("at %v, %s panicked: %v (%s; PanicError.Stack has the calls that led there)", e.Now, by, e.Value, e.Place)
}

// Unwrap returns the value of the panic, where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// caller is an Entity that calls code of others, and tells whom it is calling, or "".
type caller interface {
	Entity
	Calling() string
}

// panicked returns the error of a panic; it is called while that is recovered from.
func (s *Simulator) panicked(value any) *PanicError {
	e := &PanicError{Now: s.now, Value: value, Stack: debug.Stack()}
	for _, c := range s.entities {
		if caller, ok := c.entity.(caller); ok && e.By == "" {
			e.By = caller.Calling()
		}
	}
	calls := make([]uintptr, 64)
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls)])
	for thrown := false; ; {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if thrown && !inRuntime {
			e.Place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if thrown = thrown || inRuntime; e.Place != "" || !more {
			return e
		}
	}
}

// SchedulingError reports an event scheduled before the present instant, which would break
// causality, or for the end of simulated time, Forever, or past it: a fault of the model.
type SchedulingError struct {
	Now, At Time    // At is Forever for an instant past the end of time, too
	Delay   Time    // from Now, as the model asked for it
	Phase   Phase   // of the event
	Arg     uint64  // of the event
	To      Handler // handler of the event
	// By is the event whose handler asked for it; the zero Event if the program did so
	// outside a run.
	By Event
}

// Past reports whether the event was scheduled for the past, and not past the end of time.
func (e *SchedulingError) Past() bool { return e.At < e.Now }

func (e *SchedulingError) Error() string {
	when := fmt.Sprintf("for %v, in the past", e.At)
	if !e.Past() {
		when = fmt.Sprintf("%v later, past the end of simulated time", e.Delay)
	}
	return fmt.Sprintf("at %v%s, an event for %s (phase %d, arg %d) was scheduled %s",
		e.Now, by(e.By), handlerName(e.To), e.Phase, e.Arg, when)
}

func by(e Event) string {
	if e.to == nil {
		return ""
	}
	return fmt.Sprintf(", in %v", e)
}

// blame completes an error of scheduling with the event whose handler brought it about.
func blame(err error, e Event) {
	if err, ok := err.(*SchedulingError); ok {
		err.By = e
	}
}

// EventLimitError reports that Config.MaxEvents was reached with events left.
type EventLimitError struct {
	Limit uint64 // Config.MaxEvents
	Now   Time   // instant of the last event that ran
}

func (e *EventLimitError) Error() string {
	return fmt.Sprintf("stopped at %v after the maximum of %d events", e.Now, e.Limit)
}

var (
	errNoHandler = errors.New("an event needs a handler")
	errNested    = errors.New("a handler must not run its own simulation")
)

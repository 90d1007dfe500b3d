package users

import (
	"iter"

	"github.com/gridslot/gridslot/workload"
)

// Feedback fills in fields 17 and 18 of records, by what their users waited for; what
// stood there is lost. The jobs of a batch all wait for one job of the batch before, each
// with its own think time. So a batch stays together, and with the waits of the log
// everybody submits at the instants of the log, to the tick.
//
// The format holds one preceding job. If the batch before had several jobs, another of them may end
// last in a simulation; the user then submits too early, before that job has ended. step.After
// avoids this. Records that are no jobs of users keep their submissions.
//
// An error ends the sequence. A record is valid until the next one is asked for.
func Feedback(records iter.Seq2[*workload.Record, error], rule Rule) iter.Seq2[*workload.Record, error] {
	return func(yield func(*workload.Record, error) bool) {
		s := Splitter{Rule: rule}
		for rec, err := range records {
			if err != nil {
				yield(nil, err)
				return
			}
			step, err := s.Next(rec)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(step.Linked(rec), nil) {
				return
			}
		}
	}
}

// Linked returns a copy of the record of the step, with fields 17 and 18 set as the step says.
func (s *step) Linked(rec *workload.Record) *workload.Record {
	own := *rec
	own.Preceding, own.ThinkTime = workload.Unknown, workload.UnknownTime
	if s.Waits {
		own.Preceding, own.ThinkTime = s.Preceding, s.Think
	}
	return &own
}

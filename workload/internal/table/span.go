package table

import (
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// Span has the earliest and the latest submission that a survey has met. In the zero value it has
// met none.
type Span struct {
	earliest, latest des.Time // of those seen; they mean nothing before the first
	some             bool     // one was seen
	unsorted         bool     // one was earlier than one before it
}

// Add takes in the next submission.
func (s *Span) Add(at des.Time) {
	if !s.some {
		s.some, s.earliest, s.latest = true, at, at
	}
	s.unsorted = s.unsorted || at < s.latest
	s.earliest, s.latest = min(s.earliest, at), max(s.latest, at)
}

// Tell tells a header whether they come in order and, if they count from 1970, when the log begins:
// the whole second (rounded down) of the earliest, so that no submission is negative.
func (s *Span) Tell(h *workload.Header, from1970 bool) {
	h.Unsorted = h.Unsorted || s.unsorted
	if s.some && from1970 {
		h.Set("UnixStartTime", strconv.FormatInt(int64(s.earliest/des.Second), 10))
	}
}

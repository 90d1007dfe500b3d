// Package clean makes logs fit for study: it takes out flurries, keeps a stretch of time,
// takes out what tells of people, splits logs and merges them. Nothing is decided by itself: each
// transformation is a rule with its parameters, and the same rule on the same log gives the same records.
//
// Transformations are functions from records to records, to be given to
// workload.Trace.Selected. A record that they yield is valid until the next one is asked for. What
// they leave out they count.
//
//	var removed clean.Removed
//	flurries := clean.Flurries{Jobs: 1000, Within: des.Day}
//	for rec, err := range trace.Selected(flurries.Remove(&removed)) { ... }
//
// Literature: D. Feitelson and D. Tsafrir, Workload sanitation for performance evaluation,
// ISPASS 2006; D. Tsafrir and D. Feitelson, Instability in parallel job scheduling simulation: the
// role of workload flurries, IPDPS 2006.
package clean

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// Records yields the records of a log. Each range over it reads the log again.
type Records = iter.Seq[*workload.Record]

// Removed counts the records that a transformation left out in its latest pass, and lists their
// flurries.
type Removed struct {
	Records  int64
	Flurries []Flurry
}

// Between keeps the records that were submitted from an instant on and before another one.
func Between(from, to des.Time, removed *Removed) func(Records) Records {
	return func(records Records) Records {
		return func(yield func(*workload.Record) bool) {
			*removed = Removed{}
			for rec := range records {
				if rec.Submit < from || rec.Submit >= to {
					removed.Records++
				} else if !yield(rec) {
					return
				}
			}
		}
	}
}

// WholeWeeks keeps the weeks of a log, from Monday to Sunday, that lie between its first and
// its last submission as a whole. The log begins at start, by whose zone the weeks are; see
// workload.Header.Start. It takes a pass of its own.
func WholeWeeks(start time.Time, removed *Removed) func(Records) Records {
	return func(records Records) Records {
		return func(yield func(*workload.Record) bool) {
			// One pass finds the first and the last submission, and Between makes another.
			first, last := des.Forever, des.Time(-1)
			for rec := range records {
				if rec.Submit >= 0 {
					first, last = min(first, rec.Submit), max(last, rec.Submit)
				}
			}
			if last < 0 {
				first = 0
			}
			from := monday(start, first)
			if from < first {
				from = nextMonday(start, from)
			}
			Between(from, monday(start, last+des.Second), removed)(records)(yield)
		}
	}
}

// monday is the latest beginning of a week, Monday at midnight by the clock of start's zone, that is not
// after t; both are counted from start.
func monday(start time.Time, t des.Time) des.Time {
	at := workload.Calendar(start, t)
	day := time.Date(at.Year(), at.Month(), at.Day()-(int(at.Weekday())+6)%7, 0, 0, 0, 0, at.Location())
	return des.Time(day.Unix()-start.Unix()) * des.Second
}

// nextMonday is the beginning of the week after that one. A week in which the clock is set does not have
// seven times 24 hours.
func nextMonday(start time.Time, monday des.Time) des.Time {
	at := workload.Calendar(start, monday)
	day := time.Date(at.Year(), at.Month(), at.Day()+7, 0, 0, 0, 0, at.Location())
	return des.Time(day.Unix()-start.Unix()) * des.Second
}

// ParseInstant reads an instant of a log with that header: seconds from its beginning, or
// a date or a date with a time in its zone, 1996-10-01 or 1996-10-01T08:00:00.
func ParseInstant(text string, h *workload.Header) (des.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n > maxSeconds || n < -maxSeconds {
			return 0, fmt.Errorf("%s s are too many", text)
		}
		return des.Time(n) * des.Second, nil
	}
	if !strings.Contains(text, "-") {
		return 0, errWant(text)
	}
	return h.Date(text)
}

// maxSeconds bounds instants of a log, in seconds.
const maxSeconds = int64(workload.MaxTime / des.Second)

func errWant(text string) error {
	return errors.New("want seconds from the beginning of the log or a date, as in 1996-10-01 or 1996-10-01T08:00:00, not " + strconv.Quote(text))
}

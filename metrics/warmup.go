package metrics

// What does not count at the beginning of a run.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/number"
)

// Warmup is the part at the beginning of a run that does not count, because the machine was empty
// then: the first Jobs jobs in order of submission, or the jobs that are submitted before Until
// after the first submission. It ends with the submission of the first job that counts, or when
// that time is over. The zero value is no warm-up; at most one of the fields is set.
type Warmup struct {
	Jobs  int
	Until des.Time
}

// String writes the warm-up as ParseWarmup reads it; "" for none.
func (w Warmup) String() string {
	switch {
	case w.Until > 0:
		return w.Until.String() + "s"
	case w.Jobs > 0:
		return fmt.Sprintf("jobs=%d", w.Jobs)
	}
	return ""
}

// ParseWarmup reads what String writes, a number of jobs alone as in "5000", and any other
// way to write a time, such as "7d".
func ParseWarmup(text string) (w Warmup, err error) {
	jobs, isJobs := strings.CutPrefix(text, "jobs=")
	switch {
	case text == "" || text == "none":
	case isJobs || strings.Trim(text, "0123456789") == "":
		w.Jobs, err = strconv.Atoi(jobs)
		if err == nil && w.Jobs < 0 {
			err = strconv.ErrRange
		}
	default:
		w.Until, err = number.Length(text)
	}
	if err != nil {
		return Warmup{}, fmt.Errorf("want how many jobs, as in 5000 or jobs=5000, or a time such as 7d, not %q", text)
	}
	return w, nil
}

// warming is a warm-up under way.
type warming struct {
	Warmup
	// came is the number of jobs that have been submitted so far.
	came int
	// early are the jobs of the warm-up that have not ended; never iterated.
	early map[*entity.Run]struct{}
	// over tells that end, the end of the warm-up, is known. It is known from the beginning with
	// Until.
	over bool
	end  des.Time
}

// has reports whether the job of an event belongs to the warm-up. It must hear of all events, in
// order.
func (w *warming) has(e entity.JobEvent) bool {
	switch e.Kind {
	case entity.JobSubmitted:
		submit := e.Run.Submit
		if w.came == 0 && w.Until > 0 {
			w.over, w.end = true, submit.Add(w.Until)
		}
		if w.came++; w.came <= w.Jobs || w.over && w.Until > 0 && submit < w.end {
			if w.early == nil {
				w.early = map[*entity.Run]struct{}{}
			}
			w.early[e.Run] = struct{}{}
			return true
		}
		if !w.over {
			w.over, w.end = true, submit
		}
		return false
	case entity.JobRejected, entity.JobFinished, entity.JobKilled:
		defer delete(w.early, e.Run)
	}
	_, early := w.early[e.Run]
	return early
}

// left returns the part of an attempt that is after the warm-up; it is empty while the warm-up
// goes on. The given ends are not changed.
func (w *warming) left(start, finish des.Time, ends []des.Time) (des.Time, des.Time, []des.Time) {
	from := w.end
	if !w.over {
		from = finish
	}
	start = max(start, from)
	ends = slices.Clone(ends)
	for i := range ends {
		ends[i] = max(ends[i], start)
	}
	return start, max(finish, start), ends
}

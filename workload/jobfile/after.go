package jobfile

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
)

// The column after: the jobs that must have ended before this one comes, such as
//
//	3 7           jobs 3 and 7
//	10-14         jobs 10 to 14, which may be the tasks of an array
//	4:ok          job 4, which must have finished well: otherwise this one is rejected
//	10-14:ok+60   and 60 time units more
//	4:submitted+60  60 time units after the submission of job 4

// wantAfter is the description of valid cells of the column, for messages.
const wantAfter = "jobs such as 3 10-14 4:ok+60"

// parseAfter reads the column: parts with blanks between them, each a job or a range of jobs, which
// becomes a dependency for each of its jobs.
func parseAfter(text string) (all []entity.Dependency, err error) {
	for part := range strings.FieldsSeq(text) {
		d, jobs, think, thinks := entity.CutDependency(part)
		if thinks {
			var ok bool
			if d.Think, ok = parseTime(think); !ok {
				return nil, fmt.Errorf("%q: want a time of 0 to %d time units behind the +", part, int64(workload.MaxTime/des.Second))
			}
		}
		from, to, isRange := strings.Cut(jobs, "-")
		first, ok := parseID(from)
		last := first
		if ok && isRange {
			last, ok = parseID(to)
		}
		switch {
		case !ok:
			return nil, wrong(wantAfter, text)
		case last < first || last-first >= mostTasks || int64(len(all)) >= mostTasks:
			return nil, fmt.Errorf("%q: want a range upwards of at most %d jobs", part, mostTasks)
		}
		for i := range last - first + 1 {
			d.Job = first + i
			all = append(all, d)
		}
	}
	return slices.Clip(all), nil
}

// parseID reads the number of a job.
func parseID(text string) (int64, bool) {
	v, fault := number.Count([]byte(text), math.MaxInt64)
	return v, fault == number.Sound
}

// appendAfter appends the jobs that must have ended before, those that are in a row
// as a range.
func appendAfter(b []byte, all []entity.Dependency) []byte {
	for i := 0; i < len(all); {
		first, last := all[i], all[i]
		for i++; i < len(all); i++ {
			next := last
			next.Job++
			if all[i] != next {
				break
			}
			last = next
		}
		if b[len(b)-1] != ',' && b[len(b)-1] != '"' {
			b = append(b, ' ')
		}
		text := first.String()
		if first != last {
			bare := strconv.FormatInt(first.Job, 10)
			text = strings.Replace(text, bare, bare+"-"+strconv.FormatInt(last.Job, 10), 1)
		}
		b = append(b, text...)
	}
	return b
}

// MayWait reports whether the file speaks of jobs that come after others. It looks
// at no more than the first line of CSV, and into no line of JSON.
func (f *JobFile) MayWait() (bool, error) {
	s, err := f.Open()
	if err != nil {
		return false, err
	}
	defer s.Close()
	if f.format == CSV {
		if err := s.readHeader(); err != nil {
			return false, nil // the reading will say so
		}
		return slices.Contains(s.header, colAfter), nil
	}
	for s.lines.Scan() {
		if bytes.Contains(s.lines.Bytes(), []byte(`"after"`)) {
			return true, nil
		}
	}
	return false, nil
}

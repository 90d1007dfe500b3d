package clean

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// Split is the division of a log into parts.
type Split struct {
	Parts []Part // none of them empty, in the order of their numbers or times

	key   func(place int64, rec *workload.Record) int64 // records of one key are a part
	index map[int64]int                                 // by key: the place in Parts
}

// Part is one of them.
type Part struct {
	Name    string // "user-3", "week-1996-09-23", "part-02"
	Records int64  // 1 or more

	key int64
}

// maxParts bounds the parts, each of which becomes a file.
const maxParts = 100_000

// NewSplit divides a log by "user", "group", "executable", "queue" or "partition", by "week" from
// Monday on (of seven days from the log's beginning where its header does not tell the calendar),
// or, if by is a number N, into N parts of consecutive records, whose sizes differ by at most one.
// It takes a pass over the records, and two for a number.
func NewSplit(by string, h *workload.Header, records Records) (*Split, error) {
	// What tells the part of a record, and how parts are called.
	s := &Split{index: map[int64]int{}}
	name := func(key int64) string { return strconv.FormatInt(key, 10) }
	start, noStart := h.Start()
	field := slices.Index(fieldNames[:], by+"s")
	n, notNumber := strconv.ParseInt(by, 10, 64)
	switch {
	case field >= 0:
		s.key = func(_ int64, rec *workload.Record) int64 {
			return max(*numberOf(rec, workload.NamedFields[field]), workload.Unknown)
		}
	case by == "week" && noStart == nil:
		s.key = func(_ int64, rec *workload.Record) int64 { return int64(monday(start, rec.Submit)) }
		name = func(key int64) string { return workload.Calendar(start, des.Time(key)).Format(time.DateOnly) }
	case by == "week":
		s.key = func(_ int64, rec *workload.Record) int64 { return int64(rec.Submit/(7*des.Day)) + 1 }
		name = func(key int64) string { return fmt.Sprintf("%04d", key) }
	case notNumber == nil && n >= 1 && n <= maxParts:
		var all int64
		for range records {
			all++
		}
		s.key = func(place int64, _ *workload.Record) int64 { return place*n/all + 1 }
		width := len(by)
		by, name = "part", func(key int64) string { return fmt.Sprintf("%0*d", width, key) }
	default:
		return nil, fmt.Errorf("%q is none of user, group, executable, queue, partition, week, and no number of parts from 1 to %d", by, maxParts)
	}
	// One pass finds the parts that are not empty.
	var place int64
	for rec := range records {
		key := s.key(place, rec)
		i, ok := s.index[key]
		if !ok {
			if i = len(s.Parts); i == maxParts {
				return nil, fmt.Errorf("by %s there are more than %d parts", by, maxParts)
			}
			s.index[key] = i
			s.Parts = append(s.Parts, Part{key: key})
		}
		s.Parts[i].Records++
		place++
	}
	// Parts were met in the order of the records; now they get the order of their keys.
	slices.SortFunc(s.Parts, func(a, b Part) int { return cmp.Compare(a.key, b.key) })
	for i := range s.Parts {
		p := &s.Parts[i]
		s.index[p.key] = i
		p.Name = by + "-" + name(p.key)
		if p.key == workload.Unknown && field >= 0 {
			p.Name = by + "-unknown"
		}
	}
	return s, nil
}

// Of is the part of the record that stands at that place of the log, from 0.
func (s *Split) Of(place int64, rec *workload.Record) int { return s.index[s.key(place, rec)] }

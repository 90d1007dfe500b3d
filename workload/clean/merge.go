package clean

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// Merge makes one log of several logs, in the order of submission. Records of one instant are
// ordered by their job numbers, or by the order of their log if they are of the same log.
type Merge struct {
	// Apart lists the fields, of workload.NamedFields, in which equal numbers of two logs mean
	// different things. In such a field a number n of a log becomes n plus, for each log before it,
	// the highest number of that log and 1. In other fields equal numbers mean the same thing,
	// except that, where the logs have names for the numbers, equal names do.
	Apart []int
	// AsTheyStand keeps submissions as they are. Otherwise the logs are moved so that time 0 is the
	// earliest start of all logs. Either the headers of all logs must tell the start, or none of
	// them.
	AsTheyStand bool
}

// source is a log that is merged.
type source struct {
	*workload.Trace
	shift  des.Time // is added to submissions
	job    int64    // is added to job numbers
	maxJob int64    // the highest job number of the log
	// number says of each of workload.NamedFields the highest number of the log, and what is added to
	// its numbers. renumber has those that become another number instead: numbers with names.
	number   [len(workload.NamedFields)]struct{ add, max int64 }
	renumber [len(workload.NamedFields)]map[int64]int64
	column   []int            // by column of the log: its place in the merged log
	more     []workload.Value // the memory of a record's columns in the merged log
}

// Logs returns the merged header and the merged records. The call passes over each log twice, by
// Trace.Selected; a range over the records passes over each log once more. A record is valid until
// the next one is asked for.
//
// Job numbers stay as they are if no two logs share a number, as is the case for the parts of a log
// that was split. Otherwise the numbers of each log are moved behind those of the logs before it,
// and the numbers of preceding jobs with them. In a log that is moved, the number of a preceding
// job that is above all job numbers of the log becomes unknown.
func (m Merge) Logs(logs []*workload.Trace) (*workload.Header, iter.Seq2[*workload.Record, error], error) {
	if len(logs) == 0 {
		return nil, nil, errors.New("there is no log to merge")
	}
	sources := make([]*source, len(logs))
	for i, t := range logs {
		sources[i] = &source{Trace: t}
		if err := sources[i].survey(); err != nil {
			return nil, nil, err
		}
	}
	// What becomes of each log: lines of the header, the shift, columns, numbers of users and the like,
	// and numbers of jobs.
	h := mergedHeader(logs)
	if err := m.align(h, sources); err != nil {
		return nil, nil, err
	}
	if err := columns(h, sources); err != nil {
		return nil, nil, err
	}
	if err := m.numbers(h, sources); err != nil {
		return nil, nil, err
	}
	shared, err := sharedNumbers(sources)
	if err != nil {
		return nil, nil, err
	}
	if shared {
		var add int64
		for _, s := range sources {
			if s.job = add; s.maxJob >= math.MaxInt64-add {
				return nil, nil, fmt.Errorf("%s: its job numbers are too high to be moved behind those of the other logs", s.Name)
			}
			add += s.maxJob + 1
		}
	}
	return h, func(yield func(*workload.Record, error) bool) {
		inOrder(sources, func(s *source, rec *workload.Record, err error) bool {
			if err == nil {
				s.change(rec)
			}
			return yield(rec, err)
		})
	}, nil
}

// survey finds the highest numbers of a log.
func (s *source) survey() error {
	for rec, err := range s.Selected() {
		if err != nil {
			return err
		}
		s.maxJob = max(s.maxJob, rec.Job)
		for i, field := range workload.NamedFields {
			s.number[i].max = max(s.number[i].max, *numberOf(rec, field))
		}
	}
	return nil
}

// inOrder walks through the records of all logs in the order of submission, until walk
// returns false. It holds the next record of each log, and takes the earliest of these, so that each
// log must be in order. walk is called with an error at most once, and last.
func inOrder(sources []*source, walk func(*source, *workload.Record, error) bool) {
	type head struct {
		*source
		next   func() (*workload.Record, error, bool)
		rec    *workload.Record
		submit des.Time // of it, or of the one before where it has none
	}
	var heads []*head
	advance := func(h *head) (ok bool, err error) {
		if h.rec, err, ok = h.next(); !ok || err != nil {
			return ok, err
		}
		if h.rec.Submit < 0 { // a burst of a job before
			return true, nil
		}
		if at := h.rec.Submit + h.shift; at >= h.submit {
			h.submit = at
			return true, nil
		}
		return true, fmt.Errorf("%s: job %d was submitted before the job above it: sort the log first (--sort)", h.Name, h.rec.Job)
	}
	for _, s := range sources {
		next, stop := iter.Pull2(s.Selected())
		defer stop()
		h := &head{source: s, next: next, submit: -des.Forever}
		ok, err := advance(h)
		if err != nil {
			walk(s, nil, err)
			return
		}
		if ok {
			heads = append(heads, h)
		}
	}
	// Equal submissions go by job numbers, as they will be; of equal ones the earlier log comes first.
	for len(heads) > 0 {
		first := slices.MinFunc(heads, func(a, b *head) int {
			return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.rec.Job+a.job, b.rec.Job+b.job))
		})
		if !walk(first.source, first.rec, nil) {
			return
		}
		switch ok, err := advance(first); {
		case err != nil:
			walk(first.source, nil, err)
			return
		case !ok:
			heads = slices.DeleteFunc(heads, func(h *head) bool { return h == first })
		}
	}
}

// change makes a record of the log one of the merged log: its times, numbers and columns.
func (s *source) change(rec *workload.Record) {
	if rec.Submit >= 0 {
		rec.Submit += s.shift
		s.Header.MoveInstants(rec, s.shift)
	}
	// A preceding job that the log does not have would become one of another log.
	rec.Job += s.job
	switch {
	case rec.Preceding > s.maxJob && s.job > 0:
		rec.Preceding, rec.ThinkTime = workload.Unknown, workload.UnknownTime
	case rec.Preceding >= 0:
		rec.Preceding += s.job
	}
	for i, field := range workload.NamedFields {
		n := numberOf(rec, field)
		if other, ok := s.renumber[i][*n]; ok {
			*n = other
		} else if *n >= 0 {
			*n += s.number[i].add
		}
	}
	// Columns that the log does not have are unknown.
	if len(s.more) > 0 {
		for i := range s.more {
			s.more[i] = workload.UnknownValue
		}
		for i, v := range rec.More {
			s.more[s.column[i]] = v
		}
		rec.More = s.more
	}
}

// sharedNumbers reports whether two jobs of all logs have one number; bursts of a checkpointed job,
// which have the number of their job, do not count.
func sharedNumbers(sources []*source) (shared bool, err error) {
	seen := scan.NewNumberSet()
	inOrder(sources, func(_ *source, rec *workload.Record, e error) bool {
		if err = e; e != nil {
			return false
		}
		if burst := rec.Status >= workload.StatusPartial && rec.Status <= workload.StatusPartialFail; !burst && !seen.Next(rec.Job) {
			_, shared = seen.Add(rec.Job)
		}
		return !shared
	})
	return shared, err
}

// align finds by how much each log is moved, so that all count from the earliest beginning.
func (m Merge) align(h *workload.Header, sources []*source) error {
	if m.AsTheyStand {
		return nil
	}
	// The earliest beginning; logs that all lack theirs stay as they are.
	first := int64(math.MaxInt64)
	without := 0
	for _, s := range sources {
		if s.Header.UnixStartTime > 0 {
			first = min(first, s.Header.UnixStartTime)
		} else {
			without++
		}
	}
	switch {
	case without == len(sources):
		return nil
	case without > 0:
		return errors.New("some of the logs do not say when they start (UnixStartTime), so that they cannot be aligned: take them as they stand (--as-they-stand)")
	}
	for _, s := range sources {
		if since := s.Header.UnixStartTime - first; since <= maxSeconds {
			s.shift = des.Time(since) * des.Second
		} else {
			return fmt.Errorf("%s: its UnixStartTime is beyond all calendars", s.Name)
		}
	}
	h.Set("UnixStartTime", strconv.FormatInt(first, 10))
	return nil
}

// columns makes the columns of the merged log of those of all logs. Columns of one name are one
// column, if they have the same kind and unit.
func columns(h *workload.Header, sources []*source) error {
	h.Columns = nil
	for _, s := range sources {
		for _, c := range s.Header.Columns {
			i := slices.IndexFunc(h.Columns, func(of workload.Column) bool { return of.Name == c.Name })
			if i < 0 {
				i = len(h.Columns)
				h.Columns = append(h.Columns, c)
			}
			if h.Columns[i] != c {
				return fmt.Errorf("%s: its column %s is of another kind or unit than in a log before it", s.Name, c.Name)
			}
			s.column = append(s.column, i)
		}
	}
	for _, s := range sources {
		s.more = make([]workload.Value, len(h.Columns))
	}
	return nil
}

// numbers decides what becomes of the numbers of users and the like, field by field. With names, equal
// names of two logs become one number; a name whose number stands for another name already gets the
// next number above all. Apart, each log's numbers are moved behind those of the logs before.
func (m Merge) numbers(h *workload.Header, sources []*source) error {
	for i, field := range workload.NamedFields {
		var highest int64
		for _, s := range sources {
			for n := range s.Header.Names(field).All() {
				s.number[i].max = max(s.number[i].max, n)
			}
			highest = max(highest, s.number[i].max)
		}
		if slices.ContainsFunc(sources, func(s *source) bool { return s.Header.Names(field).Len() > 0 }) {
			h.Forget(field) // and the lines that are made of names again
		}
		names := h.Names(field)
		var add int64
		for _, s := range sources {
			s.renumber[i] = map[int64]int64{}
			if slices.Contains(m.Apart, field) {
				s.number[i].add = add
				if s.number[i].max >= math.MaxInt64-add {
					return fmt.Errorf("%s: its numbers of %s are too high to be kept apart from those of other logs", s.Name, fieldNames[i])
				}
				add += s.number[i].max + 1
			}
			for n, name := range s.Header.Names(field).All() {
				to := n + s.number[i].add
				if !slices.Contains(m.Apart, field) {
					switch is := names.Find([]byte(name)); {
					case is >= 0:
						to = is
					case names.Name(n) != "": // another one's
						if highest == math.MaxInt64 {
							return fmt.Errorf("%s: there is no number left for %q", s.Name, name)
						}
						highest++
						to = highest
					}
					s.renumber[i][n] = to
				}
				names.Set(to, name)
			}
		}
	}
	return nil
}

// mergedHeader has the lines of the first log, and those of others that are not yet there. Of
// what there can be only one the first log's stands, save that numbers of jobs are added
// up, and of other limits the largest is taken.
func mergedHeader(logs []*workload.Trace) *workload.Header {
	h := logs[0].Header.Clone()
	// Numbers of jobs are added up, limits and sizes become the largest.
	for _, key := range []string{"MaxJobs", "MaxRecords", "MaxNodes", "MaxProcs", "MaxRuntime", "MaxMemory", "MaxQueues", "MaxPartitions"} {
		var sum, most int64
		given := 0
		for _, t := range logs {
			number, _, _ := strings.Cut(t.Header.Get(key), " ") // as in "1024 (512 x 2)"
			if n, err := strconv.ParseInt(number, 10, 64); err == nil {
				sum, most, given = sum+n, max(most, n), given+1
			}
		}
		switch {
		case given == 0:
		case key == "MaxJobs" || key == "MaxRecords":
			if given == len(logs) {
				h.Set(key, strconv.FormatInt(sum, 10))
			} else {
				h.Drop(key) // the sum is not known
			}
		case !strings.HasPrefix(h.Get(key)+" ", strconv.FormatInt(most, 10)+" "):
			h.Set(key, strconv.FormatInt(most, 10))
		}
	}
	// The other lines of the other logs.
	for _, t := range logs[1:] {
		for _, e := range t.Header.Entries() {
			if !slices.Contains(h.Entries(), e) && !single(e.Key, h) {
				h.Add(e.Key, e.Value)
			}
		}
	}
	return h
}

// single reports whether a header has one line of that key at most, and has it.
func single(key string, h *workload.Header) bool {
	for _, of := range []string{"Acknowledge", "Information", "Conversion", "Note", "Computer", "Installation", "Copyright"} {
		if strings.EqualFold(key, of) {
			return false
		}
	}
	return h.Get(key) != "" || strings.HasPrefix(strings.ToLower(key), "max")
}

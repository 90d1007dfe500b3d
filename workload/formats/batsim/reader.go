package batsim

import (
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// reader reads the records of a workload whose profiles its survey has found.
type reader struct {
	header   *workload.Header
	tally    *workload.Tally
	scanner  *jsontext.Scanner
	profiles map[string]profile // by name; of the survey, not changed
	columns  map[string]int     // by name: the place in record.More
	members  scan.Memo[place]   // by key: where a member of jobs goes, beside those that every job has
	inJobs   bool               // the scanner stands between two jobs
	done     bool               // the end of the workload has been reached
	isName   bool               // some id is text: all of them are, and jobs are counted from 1
	job      job                // the present one, as it stands in the file
	record   workload.Record
	more     []workload.Value // the memory of record.More
	texts    scan.Kept        // the strings of text in columns
	err      error
}

// place is the position in a record to which a member of a job goes.
type place struct {
	field  int // 0 for a column
	column int // -1 where there is none
}

// Read begins a reading; the survey has found the profiles.
func (Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	profiles, ok := h.Found.(map[string]profile)
	if !ok {
		return nil, fmt.Errorf("%s: this is not the header that its Survey has made", in.Name())
	}
	r := &reader{
		header: h, tally: workload.NewTally(in, h), scanner: jsontext.NewScanner(text, longest), profiles: profiles,
		columns: map[string]int{}, more: make([]workload.Value, len(h.Columns)),
	}
	for i, c := range h.Columns {
		r.columns[c.Name] = i
	}
	_, r.isName = r.columns["id"]
	return r, nil
}

func (r *reader) Header() *workload.Header { return r.header }
func (r *reader) Record() *workload.Record { return &r.record }
func (r *reader) Line() int64              { return r.scanner.At }
func (r *reader) Err() error               { return r.err }
func (r *reader) Report() *workload.Report { return r.tally.Report() }

// Next finds the next job. Whatever stands around the jobs is passed over: the first
// pass has seen it.
func (r *reader) Next() bool {
	s := r.scanner
	for r.err == nil && !r.done {
		if !r.inJobs {
			r.enter()
			continue
		}
		if !s.Element() {
			r.inJobs, r.err = false, wrong(s, r.tally.Name)
			continue
		}
		if !r.job.next(s) {
			r.err = wrong(s, r.tally.Name)
			break
		}
		r.tally.Line()
		if r.read() {
			return true
		}
	}
	return false
}

// enter passes over members of the workload up to the first job of the next list of jobs, or to the
// end of the workload.
func (r *reader) enter() {
	s := r.scanner
	if s.At == 0 {
		s.SkipMark()
		s.Open('{')
	}
	for s.Member() {
		if string(s.Key) == "jobs" && s.Next() == '[' {
			r.inJobs = s.Open('[')
			return
		}
		s.Value()
	}
	r.done, r.err = true, wrong(s, r.tally.Name)
}

// damage leaves the present job out. It returns false.
func (r *reader) damage(column string, why workload.Reason, text []byte, want string) bool {
	r.err = r.tally.Damage(r.scanner.At, column, why, text, want)
	return false
}

// read makes a record of the job in Raw, and reports whether it is one.
func (r *reader) read() bool {
	s, j, rec := r.scanner, &r.job, &r.record
	if s.TooLong {
		return r.damage("", workload.LineTooLong, s.Raw, "a job of at most 262144 bytes")
	}
	if !j.sound {
		return r.damage("", workload.TooFewFields, s.Raw, "an object")
	}
	*rec = workload.UnknownRecord
	rec.More = nil
	if len(r.more) > 0 {
		rec.More = r.more
	}
	for i := range r.more {
		r.more[i] = workload.UnknownValue
	}
	// What every job has: its id, submission and size, perhaps a limit (-1, none in Batsim, or null is
	// unknown), and the profile that tells the runtime.
	rec.Job = r.tally.Report().Lines
	if id, ok := number.Integer(unquoted(j.id)); ok && !r.isName {
		rec.Job = id
	} else if !r.put("id", r.column("id"), j.id) {
		return false
	}
	if !r.set(2, "subtime", unquoted(j.submit)) || !r.set(8, "res", unquoted(j.size)) {
		return false
	}
	if limit := unquoted(j.walltime); len(limit) > 0 && limit[0] != '-' && string(limit) != "null" && !r.set(9, "walltime", limit) {
		return false
	}
	if rec.Requested <= 0 {
		return r.damage("res", workload.NegativeNumber, j.size, "1 or more")
	}
	name, _ := jsontext.Text(j.profile)
	if p, ok := r.profiles[string(name)]; !ok {
		return r.damage("profile", workload.TooFewFields, j.profile, "the name of one of the profiles")
	} else if rec.Runtime = p.delay; p.delay < 0 {
		r.put("profile", r.column("profile"), j.profile)
		if i, ok := r.columns["profile_type"]; ok && p.kind != "" {
			r.more[i] = workload.TextValue(p.kind)
		}
	}
	for _, m := range j.more {
		if !r.tell(m) {
			return false
		}
	}
	ok, err := r.tally.Take(s.At, rec)
	r.err = err
	return ok
}

// set sets a field that jobs state themselves.
func (r *reader) set(field int, name string, value []byte) bool {
	if why, ok := r.record.SetField(field, value); !ok {
		return r.damage(name, why, value, workload.Expected(field))
	}
	return true
}

// tell takes in another member of the job: a field of SWF if it has the name of one, or else a value
// of a column. null is not known.
func (r *reader) tell(m pair) bool {
	if string(m.value) == "null" {
		return true
	}
	at, ok := r.members.Find(m.key)
	if !ok {
		key := string(m.key)
		at = place{field(key), r.column(key)}
		r.members.Put(key, at)
	}
	f := at.field
	if f == 0 {
		return r.put(string(m.key), at.column, m.value)
	}
	if name, ok := jsontext.Text(m.value); ok && isNamed(f) {
		if r.record.Put(f, r.header.Names(f).Find(name)); len(name) > 0 {
			return true
		}
	}
	if why, ok := r.record.SetField(f, unquoted(m.value)); !ok {
		return r.damage(string(m.key), why, m.value, workload.Expected(f))
	} else if why == workload.MemoryFractionDropped {
		r.tally.Add(r.scanner.At, string(m.key), why, m.value)
	}
	return true
}

// column is the place of a column in record.More, or -1.
func (r *reader) column(name string) int {
	if i, ok := r.columns[name]; ok {
		return i
	}
	return -1
}

// put puts a value into a column: text as it is, lists and objects as JSON.
func (r *reader) put(name string, i int, value []byte) bool {
	switch {
	case i < 0 && name == "id":
		return r.damage("id", workload.NotANumber, value, "a number or text")
	case i < 0:
		r.tally.Add(r.scanner.At, name, workload.ExtraFields, value)
		return true
	case r.header.Columns[i].Text:
		s, isText := jsontext.Text(value)
		if !isText {
			s = value
		}
		r.more[i] = workload.TextValue(r.texts.Of(s))
		return true
	}
	x, fault := number.Float(value)
	if fault != number.Sound {
		return r.damage(name, workload.NotANumber, value, "a number")
	}
	r.more[i] = workload.NumberValue(x)
	return true
}

// delays are the runtimes that records have, in ascending order, so that what is written does not
// depend on the order of a map.
func delays(of map[des.Time]bool) []des.Time {
	all := make([]des.Time, 0, len(of))
	for d := range of {
		all = append(all, d)
	}
	slices.Sort(all)
	return all
}

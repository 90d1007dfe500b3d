package batsim

import (
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/texts"
)

// reader reads records.
type reader struct {
	header   *workload.Header
	account  *workload.Account
	stream   *stream
	profiles map[string]profile
	columns  map[string]int
	inJobs   bool // between two jobs
	first    bool
	done     bool
	isName   bool // ids are text
	job      job
	record   workload.Record
	more     []workload.Value
	texts    texts.Kept
	err      error
}

// Read begins a reading, with a pass over the profiles.
func (Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	f, err := open(in)
	if err != nil {
		return nil, err
	}
	f.profiles = map[string]profile{}
	if err := f.read(); err != nil {
		return nil, err
	}
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	r := &reader{
		header: h, account: workload.NewAccount(in, h), stream: newStream(text, in.Name()), profiles: f.profiles,
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
func (r *reader) Line() int64              { return r.stream.at }
func (r *reader) Err() error               { return r.err }
func (r *reader) Report() *workload.Report { return r.account.Report() }

// Next finds the next job. Whatever stands around the jobs is passed over: the first
// pass has seen it.
func (r *reader) Next() bool {
	s := r.stream
	for r.err == nil && !r.done {
		if !r.inJobs {
			r.enter()
			continue
		}
		if !s.another(r.first, ']') {
			r.inJobs, r.err = false, s.err
			continue
		}
		r.first = false
		if !s.value() {
			r.err = s.err
			break
		}
		r.account.Line()
		if r.read() {
			return true
		}
	}
	return false
}

// enter passes over members of the workload up to the first job.
func (r *reader) enter() {
	s := r.stream
	begun := s.at > 0
	if !begun {
		if c, ok := s.peek(); ok && c == 0xEF {
			s.pos += min(3, s.end-s.pos)
		}
		s.take('{')
	}
	for s.another(!begun, '}') {
		begun = true
		key, ok := s.key()
		if c, _ := s.peek(); ok && key == "jobs" && c == '[' {
			s.pos++
			r.inJobs, r.first = true, true
			return
		}
		if !ok || !s.value() {
			break
		}
	}
	r.done, r.err = true, s.err
}

func (r *reader) damage(column string, why workload.Reason, text []byte, want string) bool {
	r.err = r.account.Damage(r.stream.at, column, why, text, want)
	return false
}

// read makes a record of the job in raw.
func (r *reader) read() bool {
	s, j, rec := r.stream, &r.job, &r.record
	if s.tooLong {
		return r.damage("", workload.LineTooLong, s.raw, "a job of at most 262144 bytes")
	}
	if !j.parse(s.raw) {
		return r.damage("", workload.TooFewFields, s.raw, "an object")
	}
	*rec = workload.UnknownRecord
	rec.More = nil
	if len(r.more) > 0 {
		rec.More = r.more
	}
	for i := range r.more {
		r.more[i] = workload.UnknownValue
	}
	rec.Job = r.account.Report().Lines
	if id, err := strconv.ParseInt(string(number(j.id)), 10, 64); err == nil && !r.isName {
		rec.Job = id
	} else if !r.put("id", j.id) {
		return false
	}
	for _, f := range []struct {
		name  string
		field int
		value []byte
	}{{"subtime", 2, j.submit}, {"res", 8, j.size}, {"walltime", 9, j.walltime}} {
		value := number(f.value)
		if f.field == 9 && (len(value) == 0 || value[0] == '-' || string(value) == "null") {
			continue // no limit
		}
		if why, ok := rec.SetField(f.field, value); !ok {
			return r.damage(f.name, why, value, workload.Expected(f.field))
		}
	}
	if rec.Requested <= 0 {
		return r.damage("res", workload.NegativeNumber, j.size, "1 or more")
	}
	name, _ := text(j.profile)
	if p, ok := r.profiles[string(name)]; !ok {
		return r.damage("profile", workload.TooFewFields, j.profile, "the name of one of the profiles")
	} else if rec.Runtime = p.delay; p.delay < 0 {
		r.put("profile", j.profile)
		if i, ok := r.columns["profile_type"]; ok && p.kind != "" {
			r.more[i] = workload.TextValue(p.kind)
		}
	}
	for _, m := range j.more {
		if !r.tell(m) {
			return false
		}
	}
	if f := rec.Negative(); f > 0 {
		return r.damage(workload.FieldNames[f-1], workload.NegativeNumber, rec.AppendField(nil, f), workload.Expected(f))
	}
	r.account.Took(s.at, rec)
	return true
}

// tell takes in another member of the job.
func (r *reader) tell(m pair) bool {
	if string(m.value) == "null" {
		return true
	}
	f := field(string(m.key))
	if f == 0 {
		return r.put(string(m.key), m.value)
	}
	if name, ok := text(m.value); ok && isNamed(f) {
		if r.record.Put(f, r.header.Names(f).Find(name)); len(name) > 0 {
			return true
		}
	}
	if why, ok := r.record.SetField(f, number(m.value)); !ok {
		return r.damage(string(m.key), why, m.value, workload.Expected(f))
	} else if why == workload.MemoryFractionDropped {
		r.account.Add(r.stream.at, string(m.key), why, m.value)
	}
	return true
}

// put puts a value into a column: text as it is, lists and objects as JSON.
func (r *reader) put(column string, value []byte) bool {
	i, ok := r.columns[column]
	switch {
	case !ok && column == "id":
		return r.damage("id", workload.NotANumber, value, "a number or text")
	case !ok:
		r.account.Add(r.stream.at, column, workload.ExtraFields, value)
		return true
	case r.header.Columns[i].Text:
		s, isText := text(value)
		if !isText {
			s = value
		}
		r.more[i] = workload.TextValue(r.texts.Of(s))
		return true
	}
	x, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return r.damage(column, workload.NotANumber, value, "a number")
	}
	r.more[i] = workload.NumberValue(x)
	return true
}

// delays are those that records have, in ascending order.
func delays(of map[des.Time]bool) []des.Time {
	all := make([]des.Time, 0, len(of))
	for d := range of {
		all = append(all, d)
	}
	slices.Sort(all)
	return all
}

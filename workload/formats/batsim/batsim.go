// Package batsim reads and writes the workloads of the simulator Batsim: a JSON object
// with the size of the machine, jobs, and profiles that say what jobs do
// (https://batsim.readthedocs.io, input workload).
//
//	{"nb_res": 4,
//	 "jobs": [{"id": "1", "subtime": 0, "walltime": 100, "res": 2, "profile": "short"}],
//	 "profiles": {"short": {"type": "DelayProfile", "delay": 20.25}}}
//
// Its platform, which has the hosts, is another file: see ReadPlatform.
//
// A job's runtime is the delay of its profile. What profiles of other kinds take
// depends on Batsim's platform: their jobs have no runtime, and the columns profile
// and profile_type. Ids that are no numbers stand in the column id. Other members of a job, and of its extra_data, are columns, or
// fields where they have the name of one.
//
// Jobs and profiles come in any order, so the profiles are read first, in a pass of their
// own. In memory are the names and delays of at most 4,194,304 of them, and one job.
package batsim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// Format is Batsim's JSON.
type Format struct {
	// Hosts is the number of hosts for jobs on the platform with which a workload is read; see
	// OpenPlatform. By default, 0, the size of the machine is the workload's nb_res. If the two
	// differ, Survey returns an error, unless Options.Procs tells the size.
	Hosts int
}

// Bounds of what a reading keeps: profiles, the bytes of their names, columns and kinds of profiles,
// and names of one field. A workload with more profiles or names is refused; further columns are told
// as extra, and left.
const (
	mostProfiles = 1 << 22
	mostBytes    = 256 << 20
	mostColumns  = 256
	mostNames    = 1 << 20
)

// Name is "batsim".
func (Format) Name() string { return "batsim" }

// Endings are .batsim.json and .json: no other format that can be written is JSON. Files are
// known by their content, whatever they end in.
func (Format) Endings() []string { return []string{".batsim.json", ".json"} }

// Is knows an object with the names that only Batsim gives.
func (Format) Is(in *workload.Input) bool {
	head := bytes.TrimLeft(bytes.TrimPrefix(in.Head(), []byte("\ufeff")), " \t\r\n")
	has := func(name string) bool { return bytes.Contains(head, []byte(`"`+name+`"`)) }
	return bytes.HasPrefix(head, []byte("{")) && (has("subtime") || has("profiles") && (has("jobs") || has("type")))
}

// profile is the delay of a profile of that type, or the type of any other profile.
type profile struct {
	delay des.Time // UnknownTime where it is no delay
	kind  string
}

// file is a pass over the whole of a workload. What its nil fields are for is passed over.
type file struct {
	*jsontext.Scanner
	name   string           // of the input, for messages
	header *workload.Header // takes the members beside jobs and profiles
	job    func() bool      // is called for each job; false ends the pass

	current job              // the job for which it is called
	parts   jsontext.Scanner // reads the members of a value in Raw

	profiles map[string]profile // by name
	bytes    int                // of the names of profiles so far
	lines    int                // bytes of the header so far
	size     int64              // nb_res; 0 if it is not told
	others   bool               // some profiles are no delays
	kinds    map[string]string  // the types of profiles: one string each
	err      error              // there is more of something than may be
}

// open opens a workload for a pass.
func open(in *workload.Input) (*file, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return &file{Scanner: jsontext.NewScanner(text, longest), name: in.Name(), kinds: map[string]string{}}, nil
}

// wrong says what has ended a reading.
func wrong(s *jsontext.Scanner, name string) error {
	var text *jsontext.Error
	switch {
	case errors.As(s.Err, &text):
		return fmt.Errorf("%s:%d: this is no JSON of a workload: %w", name, text.Line, text.Err)
	case s.Err != nil:
		return fmt.Errorf("%s: after line %d: %w", name, s.Line(), s.Err)
	}
	return nil
}

// read reads the members of the workload, in whatever order they come. Members of another type than
// expected, and those that it does not know, are passed over.
func (f *file) read() error {
	f.SkipMark()
	for f.Open('{'); f.Member(); {
		switch key, c := string(f.Key), f.Next(); {
		case key == "jobs" && c == '[' && f.job != nil:
			for f.Open('['); f.Element(); {
				if !f.current.next(f.Scanner) || !f.job() {
					break
				}
			}
		case key == "profiles" && c == '{' && f.profiles != nil:
			for f.Open('{'); f.Member(); {
				if name := string(f.Key); !f.Value() || !f.profile(name) {
					break
				}
			}
		case key == "header" && c == '[' && f.header != nil:
			for f.Open('['); f.Element(); {
				f.Value()
				if line, ok := jsontext.Text(f.Raw); ok && f.room(len(line)) && bytes.HasPrefix(line, []byte(";")) && !bytes.ContainsAny(line, "\r\n") && !f.TooLong {
					f.header.AddLine(string(line))
				}
			}
		case key == "columns" && c == '[' && f.header != nil:
			for f.Open('['); f.Element(); {
				f.declared()
			}
		case key == "names" && c == '{' && f.header != nil:
			f.names()
		default:
			if f.Value() && f.header != nil && !f.TooLong {
				f.tells(key, f.Raw)
			}
		}
		if f.err != nil {
			return f.err
		}
	}
	if h := f.header; h != nil && f.size > 0 && f.size != cmp.Or(h.MaxProcs, h.MaxNodes) { // a header of ours says it already
		h.Set("MaxProcs", strconv.FormatInt(f.size, 10))
	}
	f.End() // another workload behind the first one would not be read
	return wrong(f.Scanner, f.name)
}

// maxHeader bounds what is kept of a header, in bytes.
const maxHeader = 1 << 20

// room reports whether a line of that many bytes, and its line end, is kept of a header, and counts
// it.
func (f *file) room(size int) bool {
	f.lines += size + 1
	return f.lines <= maxHeader
}

// inRaw begins to read the object in Raw, which has no members if it is no object or too long.
func (f *file) inRaw() *jsontext.Scanner {
	if f.parts.Reset(f.Raw); f.TooLong {
		f.parts.Reset(nil)
	}
	f.parts.Open('{')
	return &f.parts
}

// declared takes in a column that Write has declared.
func (f *file) declared() {
	var c workload.Column
	f.Value()
	for in := f.inRaw(); in.Member() && in.Value(); {
		text, _ := jsontext.Text(in.Raw)
		switch string(in.Key) {
		case "name":
			c.Name = string(text)
		case "unit":
			c.Unit = string(text)
		case "text":
			c.Text = string(in.Raw) == "true"
		}
	}
	if len(f.header.Columns) < mostColumns {
		f.header.Columns = append(f.header.Columns, c)
	}
}

// names reads what numbers stand for: by fields, by numbers.
func (f *file) names() {
	for f.Open('{'); f.Member(); {
		of := field(string(f.Key))
		if f.Next() != '{' || !isNamed(of) {
			f.Value()
			continue
		}
		for f.Open('{'); f.Member(); {
			n, err := strconv.ParseInt(string(f.Key), 10, 64)
			f.Value()
			if name, ok := jsontext.Text(f.Raw); ok && err == nil && !f.TooLong && f.header.Names(of).Len() < mostNames {
				f.header.Names(of).Set(n, string(name))
			}
		}
	}
}

// profile takes in the profile in Raw. One without a delay that can be read has none, and its jobs
// have no runtime.
func (f *file) profile(name string) bool {
	p := profile{delay: workload.UnknownTime}
	for in := f.inRaw(); in.Member() && in.Value(); {
		switch string(in.Key) {
		case "type":
			kind, _ := jsontext.Text(in.Raw)
			p.kind = f.kinds[string(kind)]
			if p.kind == "" && len(f.kinds) < mostColumns {
				p.kind = string(kind)
				f.kinds[p.kind] = p.kind
			}
		case "delay":
			if t, fault := number.Time(in.Raw, workload.MaxTime); fault == number.Sound && t >= 0 {
				p.delay = t
			}
		}
	}
	if p.kind != "delay" && p.kind != "DelayProfile" { // its name until version 5, and since
		p.delay = workload.UnknownTime
	}
	f.others = f.others || p.delay < 0
	if f.bytes += len(name); len(f.profiles) == mostProfiles || f.bytes > mostBytes {
		f.err = fmt.Errorf("%s:%d: there are more than %d profiles, or more than %d MiB of names: have jobs of one runtime share one", f.name, f.Line(), mostProfiles, mostBytes>>20)
		return false
	}
	f.profiles[name] = p
	return true
}

// tells takes in another member of the workload: its size, or a line that the header keeps as a note.
func (f *file) tells(key string, raw []byte) {
	h := f.header
	switch key {
	case "nb_res":
		if n, err := strconv.ParseInt(string(raw), 10, 32); err == nil && n > 0 {
			f.size = n
		}
	case "description", "date", "command", "version":
		if s, ok := jsontext.Text(raw); ok && len(s) > 0 && f.room(len(s)) && !bytes.ContainsAny(s, "\r\n") {
			h.Add("Note", key+": "+string(s))
		}
	}
}

// field is the field of SWF of that name, or 0, without those that jobs state themselves.
func field(name string) int {
	switch name {
	case "job", "submit", "runtime", "requested", "estimate":
		return 0
	}
	return slices.Index(workload.FieldNames[:], name) + 1
}

// isNamed reports whether the numbers of a field of SWF may have names.
func isNamed(field int) bool { return field >= workload.FieldUser && field <= workload.FieldPartition }

// survey finds the columns and the names of a workload.
type survey struct {
	*file
	at       map[string]int      // by name: the place of a column in the header
	fields   scan.Memo[int]      // what field found for the keys of jobs, which jobs repeat
	latest   des.Time            // the submission of the job before
	texts    [17]map[string]bool // by field: the names met that the workload does not declare
	order    [17][]string        // the same, in the order in which they were met
	greatest [17]int64           // by field: the greatest number met; new names get numbers above it
}

// Survey reads all jobs for the columns that they have, and for names.
func (of Format) Survey(in *workload.Input) (*workload.Header, error) {
	f, err := open(in)
	if err != nil {
		return nil, err
	}
	// One pass takes in everything but the jobs themselves.
	f.header, f.profiles = &workload.Header{}, map[string]profile{}
	s := &survey{file: f, at: map[string]int{}}
	f.job = s.job
	if err := f.read(); err != nil {
		return nil, err
	}
	// The readings need the profiles, which may stand behind the jobs.
	h := f.header
	h.Found = f.profiles
	if err := of.platform(in, h); err != nil {
		return nil, err
	}
	if f.others {
		s.column("profile", true)
		s.column("profile_type", true)
	}
	// Names that the workload does not declare get numbers above all that it uses.
	for _, field := range workload.NamedFields {
		names := h.Names(field)
		next := s.greatest[field]
		for n := range names.All() {
			next = max(next, n)
		}
		for _, name := range s.order[field] {
			next++
			names.Set(next, name)
		}
	}
	return h, nil
}

// platform sets the size of the machine to the number of the platform's hosts, or says that the two
// differ.
func (of Format) platform(in *workload.Input, h *workload.Header) error {
	switch {
	case of.Hosts == 0 || in.Procs > 0:
	case h.MaxProcs == 0:
		h.Set("MaxProcs", strconv.Itoa(of.Hosts))
	case h.MaxProcs != int64(of.Hosts):
		return fmt.Errorf("%s: its nb_res is %d, and the platform has %d hosts for jobs: say which it is (--procs N)", in.Name(), h.MaxProcs, of.Hosts)
	}
	return nil
}

// column makes sure that there is a column, which is text if any value is.
func (s *survey) column(name string, isText bool) {
	h := s.header
	if len(s.at) == 0 {
		for i, c := range h.Columns { // declared by the workload
			s.at[c.Name] = i
		}
	}
	i, ok := s.at[name]
	if !ok {
		if len(h.Columns) == mostColumns {
			return // told by the readings
		}
		i = len(h.Columns)
		s.at[name] = i
		h.Columns = append(h.Columns, workload.Column{Name: name})
	}
	h.Columns[i].Text = h.Columns[i].Text || isText
}

// job looks at the current job. Damaged ones are left to the reading. It returns false to end the
// pass, with the reason in err.
func (s *survey) job() bool {
	var rec workload.Record
	j := &s.current
	if !j.sound {
		return true
	}
	if t, fault := number.Time(unquoted(j.submit), workload.MaxTime); fault == number.Sound {
		rec.Submit = t
	}
	// Whether jobs come in order, whether ids are numbers, and what further members there are.
	s.header.Unsorted = s.header.Unsorted || rec.Submit < s.latest
	s.latest = rec.Submit
	if _, ok := number.Integer(unquoted(j.id)); !ok {
		s.column("id", true)
	}
	for _, m := range j.more {
		if string(m.value) == "null" {
			continue
		}
		f, ok := s.fields.Find(m.key)
		if !ok {
			key := string(m.key)
			f = field(key)
			s.fields.Put(key, f)
		}
		// A value that does not begin as a number of JSON does is text in a column: a string, a
		// list, an object, true and false.
		isText := len(m.value) > 0 && m.value[0] != '-' && (m.value[0] < '0' || m.value[0] > '9')
		switch {
		case f == 0:
			s.column(string(m.key), isText)
		case isNamed(f) && isText:
			name, ok := jsontext.Text(m.value)
			if !ok || s.header.Names(f).Find(name) != workload.Unknown || s.texts[f][string(name)] {
				continue
			}
			if len(s.order[f]) == mostNames {
				s.err = fmt.Errorf("%s: there are more than %d %ss", s.name, mostNames, m.key)
				return false
			}
			if s.texts[f] == nil {
				s.texts[f] = map[string]bool{}
			}
			s.texts[f][string(name)] = true
			s.order[f] = append(s.order[f], string(name))
		case isNamed(f):
			if n, ok := number.Integer(m.value); ok {
				s.greatest[f] = max(s.greatest[f], n)
			}
		}
	}
	return true
}

// unquoted is a value without the quotes that some programs put around numbers.
func unquoted(value []byte) []byte {
	if s, ok := jsontext.Text(value); ok {
		return s
	}
	return value
}

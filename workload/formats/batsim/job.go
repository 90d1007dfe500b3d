package batsim

import "github.com/gridslot/gridslot/internal/jsontext"

// This file reads jobs.

// longest is the largest length of a job or a profile, in bytes.
const longest = 256 << 10

// job is a job as it stands in the file: the text of its members, valid until the next job is read. A
// member that is not there is nil.
type job struct {
	sound bool // it is an object; otherwise the rest means nothing
	// id, submit (subtime), size (res), walltime and profile are the members that Batsim defines.
	id, submit, size, walltime, profile []byte
	more                                []pair           // the other members, and those of its extra_data
	parts                               jsontext.Scanner // reads them
}

// pair is a member of an object: its key, and the JSON of its value.
type pair struct{ key, value []byte }

// next reads the next value, and takes it as a job. It reports whether there was a value.
func (j *job) next(s *jsontext.Scanner) bool {
	ok := s.Value()
	j.sound = ok && j.parse(s.Raw)
	return ok
}

// parse reads an object that is a job, and reports whether it is one. Of a member that is given twice
// the last one counts.
func (j *job) parse(raw []byte) (sound bool) {
	j.id, j.submit, j.size, j.walltime, j.profile, j.more = nil, nil, nil, nil, nil, j.more[:0]
	in := &j.parts
	in.Reset(raw)
	for in.Open('{'); in.Member(); {
		if string(in.Key) != "extra_data" || in.Next() != '{' {
			in.Value()
			j.take(in.Key, in.Raw)
			continue
		}
		for in.Open('{'); in.Member(); {
			in.Value()
			j.more = append(j.more, pair{in.Key, in.Raw})
		}
	}
	return in.Err == nil
}

// take takes in a member of the job.
func (j *job) take(key, value []byte) {
	switch string(key) {
	case "id":
		j.id = value
	case "subtime":
		j.submit = value
	case "res":
		j.size = value
	case "walltime":
		j.walltime = value
	case "profile":
		j.profile = value
	default:
		j.more = append(j.more, pair{key, value})
	}
}

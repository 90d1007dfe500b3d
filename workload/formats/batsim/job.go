package batsim

import (
	"bytes"

	"github.com/gridslot/gridslot/internal/jsontext"
)

// This file reads jobs.

// job is a job as it stands in the file.
type job struct {
	sound                               bool // it is an object
	id, submit, size, walltime, profile []byte
	more                                []pair // of itself and of its extra_data
}

type pair struct{ key, value []byte }

// nextJob reads a value into raw as value does, and what it is as a job into j.
func (s *stream) nextJob(j *job) bool {
	if c, ok := s.peek(); ok && c == '{' {
		if size, ok := j.quick(s.buf[s.pos:s.end]); ok {
			s.raw, s.tooLong, s.at = s.buf[s.pos:s.pos+size], false, s.line
			s.line += int64(bytes.Count(s.raw, []byte{'\n'}))
			s.pos += size
			return true
		}
	}
	ok := s.value()
	j.sound = ok && !s.tooLong && j.parse(s.raw)
	return ok
}

// parse reads an object that is a job.
func (j *job) parse(raw []byte) (sound bool) {
	*j = job{more: j.more[:0]}
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	for at := 0; ; {
		key, value, next, ok := member(raw, at)
		if at = next; !ok {
			return at < len(raw) && raw[at] == '}'
		}
		if string(key) != "extra_data" || value[0] != '{' {
			j.take(key, value)
			continue
		}
		for at := 0; ; {
			key, value, next, ok := member(value, at)
			if !ok {
				break
			}
			at = next
			j.more = append(j.more, pair{key, value})
		}
	}
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

// wordEnd are the bytes behind a number or a word, and those that have no place in one.
var wordEnd = jsontext.SetOf(",]} \n\r\t:\"{[\\")

// quick does what value and parse do, in one pass, with the jobs that most are: text
// begins with an object of strings without escapes, of numbers and words, and of
// extra_data with no more than such. Of anything else it is not ok.
func (j *job) quick(text []byte) (size int, ok bool) {
	*j = job{more: j.more[:0], sound: true}
	extra := false // within extra_data
	for at := 1; ; at++ {
		key, at2, ok := plain(text, jsontext.Blanks(text, at))
		if at = jsontext.Blanks(text, at2); !ok || at == len(text) || text[at] != ':' {
			return 0, false
		}
		if at = jsontext.Blanks(text, at+1); at < len(text) && text[at] == '{' {
			if extra || string(key) != "extra_data" {
				return 0, false
			}
			extra = true
			continue
		}
		from := at
		if _, at, ok = plain(text, at); !ok {
			at = jsontext.Until(&wordEnd, text, from)
		}
		if at == from {
			return 0, false
		}
		if value := text[from:at]; extra {
			j.more = append(j.more, pair{key, value})
		} else {
			j.take(key, value)
		}
		at = jsontext.Blanks(text, at)
		if extra && at < len(text) && text[at] == '}' {
			extra, at = false, jsontext.Blanks(text, at+1)
		}
		switch {
		case at == len(text):
			return 0, false
		case text[at] == '}' && !extra:
			return at + 1, true
		case text[at] != ',':
			return 0, false
		}
	}
}

// plain is a string without escapes at an offset, and the offset behind it.
func plain(text []byte, at int) (in []byte, end int, ok bool) {
	if at >= len(text) || text[at] != '"' {
		return nil, at, false
	}
	if end = jsontext.Until(&quoted, text, at+1); end == len(text) || text[end] != '"' {
		return nil, at, false
	}
	return text[at+1 : end], end + 1, true
}

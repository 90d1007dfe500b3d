package philly

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/texts"
)

// This file reads the objects of the log, one at a time. Those that look as in README.md of the
// traces are read in one pass over their bytes; any other one is left to the decoder of the
// standard library, whose findings count.

// objects reads the objects of an array.
type objects struct {
	name    string
	in      io.Reader
	buf     []byte
	pos     int   // behind the object read last
	end     int   // of what has been read
	readErr error // what ended it
	dec     *json.Decoder
	limit   *limited
	kept    texts.Kept
	quick   job // its slices are used again
	current job
	number  int64
	damage  error // the object is no job
	err     error
}

// bufferSize is how much is read at a time, and longest how many bytes an object may take. From one
// on that does not fit into the buffer, all are left to a decoder.
const (
	bufferSize = 256 << 10
	longest    = 16 << 20
)

// limited ends with an error where it is read too far without being allowed more.
type limited struct {
	in   io.Reader
	left int64
}

var errLong = fmt.Errorf("an object takes more than %d bytes", longest)

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLong
	}
	n, err := l.in.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

func newObjects(in *workload.Input) (*objects, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return objectsOf(in.Name(), text, bufferSize)
}

func objectsOf(name string, text io.Reader, bufferSize int) (*objects, error) {
	o := &objects{name: name, in: text, buf: make([]byte, bufferSize)}
	for o.pos == o.end && o.fill() {
		o.pos = jsontext.Blanks(o.buf[:o.end], 0)
	}
	if o.pos == o.end || o.buf[o.pos] != '[' {
		return nil, fmt.Errorf("%s: it does not begin with an array of jobs", name)
	}
	o.pos++
	return o, nil
}

// fill reads on behind what has not been used yet, and reports whether there was more, and
// room for it.
func (o *objects) fill() bool {
	o.end = copy(o.buf, o.buf[o.pos:o.end])
	o.pos = 0
	for idle := 0; o.readErr == nil && o.end < len(o.buf); idle++ {
		var n int
		n, o.readErr = o.in.Read(o.buf[o.end:])
		if o.end += n; n > 0 {
			return true
		}
		if idle == 100 {
			o.readErr = io.ErrNoProgress
		}
	}
	return false
}

// next finds the next object and reports whether there is one.
func (o *objects) next() bool {
	if o.err != nil {
		return false
	}
	o.damage = nil
	for o.dec == nil {
		size, complete := o.readQuick(o.buf[o.pos:o.end])
		switch {
		case size > 0:
			o.pos += size
			o.number++
			o.current = o.quick
			return true
		case complete || !o.fill():
			if found, ok := o.decodeBuffered(); ok {
				return found
			}
		}
	}
	o.limit.left = longest
	return o.decode(o.dec)
}

// decodeBuffered finds the next object by a decoder for it alone. Where the buffer may not have all of
// it, it is not ok, and there is a decoder for all that follows.
func (o *objects) decodeBuffered() (found, ok bool) {
	number, size := o.number, o.end-o.pos
	dec, before := o.decoder(bytes.NewReader(o.buf[o.pos:o.end]))
	found = o.decode(dec)
	used := int(dec.InputOffset()) - before
	if !errors.Is(o.err, errMiddle) && (used < size || o.readErr != nil) {
		o.pos += used
		return found, true
	}
	o.err, o.damage, o.number = nil, nil, number
	rest := o.in
	if o.readErr != nil {
		rest = failing{o.readErr}
	}
	o.limit = &limited{io.MultiReader(bytes.NewReader(o.buf[o.pos:o.end]), rest), longest}
	o.dec, _ = o.decoder(o.limit)
	return false, false
}

// failing is what is left of an input that has ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// decoder is one that stands where the objects do, in an array, and behind one of its values
// unless there was none.
func (o *objects) decoder(rest io.Reader) (dec *json.Decoder, before int) {
	array, tokens := "[", 1
	if o.number > 0 {
		array, tokens = "[0 ", 2
	}
	dec = json.NewDecoder(io.MultiReader(strings.NewReader(array), rest))
	for range tokens {
		_, _ = dec.Token() // they are there
	}
	return dec, len(array)
}

// decode finds the next object by the decoder.
func (o *objects) decode(dec *json.Decoder) bool {
	if !dec.More() {
		if _, err := dec.Token(); err != nil {
			o.fail(err)
		}
		return false
	}
	o.number++
	o.current = job{}
	err := dec.Decode(&o.current)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind): // the text goes on behind it
		o.damage = err
	case err != nil:
		o.fail(err)
		return false
	}
	return true
}

var errMiddle = errors.New("it ends in the middle")

func (o *objects) fail(err error) {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		err = errMiddle
	case errors.As(err, &syntax):
		err = errors.New("this is no JSON: want a list of jobs as the traces of Philly have it")
	}
	o.err = fmt.Errorf("%s: object %d: %w", o.name, max(o.number, 1), err)
}

// readQuick reads the object at the beginning of a text into quick, with the comma before it. Its
// size is 0 where it looks otherwise than most do; and where that is because the text ends, it is
// not complete.
func (o *objects) readQuick(text []byte) (size int, complete bool) {
	c := cursor{text: text}
	if o.number > 0 {
		c.take(',')
	}
	o.job(&c)
	if c.odd {
		return 0, c.at < len(text)
	}
	return c.at, true
}

// cursor is a place in a text of JSON, and whether something odd has been met.
type cursor struct {
	text []byte
	at   int
	odd  bool
}

// oddBytes are those of strings that do not stand for themselves, or may not.
var oddBytes = func() (all jsontext.Set) {
	for c := range all {
		all[c] = c < ' ' || c == '"' || c == '\\' || c > '~'
	}
	return all
}()

// next is the next byte behind blanks, or 0.
func (c *cursor) next() byte {
	if c.odd {
		return 0
	}
	if c.at = jsontext.Blanks(c.text, c.at); c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

// take passes over a byte that must come next.
func (c *cursor) take(b byte) {
	if c.next() != b {
		c.odd = true
	} else {
		c.at++
	}
}

// another passes over what stands between the elements of an object or an array, or behind the
// last one, and reports whether there is another one.
func (c *cursor) another(first bool, end byte) bool {
	if c.next() == end {
		c.at++
		return false
	}
	if !first {
		c.take(',')
	}
	return !c.odd
}

// string is what a string holds.
func (c *cursor) string() []byte {
	if c.take('"'); c.odd {
		return nil
	}
	from := c.at
	if c.at = jsontext.Until(&oddBytes, c.text, c.at); c.at == len(c.text) || c.text[c.at] != '"' {
		c.odd = true
		return nil
	}
	c.at++
	return c.text[from : c.at-1]
}

// stringOrNull is the same, or empty for null.
func (c *cursor) stringOrNull() []byte {
	if c.next() != 'n' {
		return c.string()
	}
	for _, b := range []byte("null") {
		if c.odd = c.odd || c.at == len(c.text) || c.text[c.at] != b; !c.odd {
			c.at++
		}
	}
	return nil
}

// member is which of names that of a member is, whose value follows. One that has come before is
// odd; seen has a bit for each.
func (c *cursor) member(seen *uint, names []string) int {
	name := c.string()
	c.take(':')
	i := slices.Index(names, string(name))
	c.odd = c.odd || i < 0 || *seen>>i&1 == 1
	if c.odd {
		return -1
	}
	*seen |= 1 << i
	return i
}

var (
	jobMembers     = []string{"status", "vc", "jobid", "attempts", "submitted_time", "user"}
	attemptMembers = []string{"start_time", "end_time", "detail"}
	detailMembers  = []string{"ip", "gpus"}
)

// job reads a job into quick.
func (o *objects) job(c *cursor) {
	j, seen := &o.quick, uint(0)
	*j = job{Attempts: j.Attempts[:0]}
	c.take('{')
	for first := true; c.another(first, '}'); first = false {
		switch c.member(&seen, jobMembers) {
		case 0:
			j.Status = o.kept.Of(c.stringOrNull())
		case 1:
			j.VC = o.kept.Of(c.stringOrNull())
		case 2:
			j.ID = string(c.stringOrNull())
		case 3:
			c.take('[')
			for first := true; c.another(first, ']'); first = false {
				j.Attempts = longer(j.Attempts)
				o.attempt(c, &j.Attempts[len(j.Attempts)-1])
			}
		case 4:
			j.Submitted = string(c.stringOrNull())
		case 5:
			j.User = o.kept.Of(c.stringOrNull())
		}
	}
}

func (o *objects) attempt(c *cursor, a *attempt) {
	seen := uint(0)
	*a = attempt{Detail: a.Detail[:0]}
	c.take('{')
	for first := true; c.another(first, '}'); first = false {
		switch c.member(&seen, attemptMembers) {
		case 0:
			a.Start = string(c.stringOrNull())
		case 1:
			a.End = string(c.stringOrNull())
		case 2:
			c.take('[')
			for first := true; c.another(first, ']'); first = false {
				a.Detail = longer(a.Detail)
				o.detail(c, &a.Detail[len(a.Detail)-1])
			}
		}
	}
}

func (o *objects) detail(c *cursor, d *detail) {
	seen := uint(0)
	*d = detail{GPUs: d.GPUs[:0]}
	c.take('{')
	for first := true; c.another(first, '}'); first = false {
		switch c.member(&seen, detailMembers) {
		case 0:
			d.IP = o.kept.Of(c.stringOrNull())
		case 1:
			c.take('[')
			for first := true; c.another(first, ']'); first = false {
				d.GPUs = append(d.GPUs, o.kept.Of(c.stringOrNull()))
			}
		}
	}
}

// longer is a slice with one element more, which may be one that was there before.
func longer[T any](s []T) []T {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	return append(s, *new(T))
}

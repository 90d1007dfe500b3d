package philly

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gridslot/gridslot/workload"
)

// This file reads the objects of the log, one at a time.

// objects reads the objects of an array.
type objects struct {
	name    string
	dec     *json.Decoder
	limit   *limited
	current job
	number  int64
	damage  error // the object is no job
	err     error
}

// longest is how many bytes an object may take.
const longest = 16 << 20

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
	return objectsOf(in.Name(), text)
}

func objectsOf(name string, text io.Reader) (*objects, error) {
	o := &objects{name: name, limit: &limited{text, longest}}
	o.dec = json.NewDecoder(o.limit)
	if t, err := o.dec.Token(); err != nil || t != json.Delim('[') {
		return nil, fmt.Errorf("%s: it does not begin with an array of jobs", name)
	}
	return o, nil
}

// next finds the next object and reports whether there is one.
func (o *objects) next() bool {
	if o.err != nil {
		return false
	}
	o.damage, o.limit.left = nil, longest
	if !o.dec.More() {
		if _, err := o.dec.Token(); err != nil {
			o.fail(err)
		}
		return false
	}
	o.number++
	o.current = job{}
	err := o.dec.Decode(&o.current)
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

func (o *objects) fail(err error) {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends in the middle")
	case errors.As(err, &syntax):
		err = errors.New("this is no JSON: want a list of jobs as the traces of Philly have it")
	}
	o.err = fmt.Errorf("%s: object %d: %w", o.name, max(o.number, 1), err)
}

package simulation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
)

// PlaceError is a fault of a machine's description, with the keys that lead to
// it, as in its file: clusters, 2, speed.
type PlaceError struct {
	Path []any // names of keys, and positions in lists
	Err  error

	want bool // Err says what is wanted there, where perhaps nothing is
}

func faultAt(err error, path ...any) *PlaceError { return &PlaceError{Path: path, Err: err} }

// wanting marks an error that says only what is wanted: what is there is added.
func (e *PlaceError) wanting() *PlaceError {
	e.want = true
	return e
}

func (e *PlaceError) Unwrap() error { return e.Err }

func (e *PlaceError) Error() string {
	if !e.want {
		return e.Err.Error()
	}
	var b strings.Builder
	for i, part := range e.Path {
		switch part := part.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", part)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, part)
		}
	}
	return b.String() + ": " + e.Err.Error()
}

// faultUnder is an error of a part of a machine with the keys that lead to the part, or
// nil.
func faultUnder(err error, path ...any) error {
	var place *PlaceError
	if errors.As(err, &place) {
		place.Path = append(path, place.Path...)
	}
	return err
}

// faultIn is an error with the line of a file where that stands.
func faultIn(root *yamlfile.Node, err error) error {
	var e *PlaceError
	switch {
	case root == nil || !errors.As(err, &e):
		return err
	case e.want:
		return root.Unwanted(e.Err.Error(), e.Path...)
	}
	return root.ErrorAt(e.Err, e.Path...)
}

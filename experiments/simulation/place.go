package simulation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
)

// placeError reports a fault of a machine's description, with the keys that lead to it as in its
// file: clusters, 2, speed. A program that made the machine sees the same keys.
type placeError struct {
	Path []any // names of keys, and positions in lists
	Err  error

	want bool // Err says what is wanted there, where perhaps nothing is
}

// faultAt returns a fault with the keys that lead to it.
func faultAt(err error, path ...any) *placeError { return &placeError{Path: path, Err: err} }

// wanting marks an error that says only what is wanted: the place, and what stands there, are
// added.
func (e *placeError) wanting() *placeError {
	e.want = true
	return e
}

func (e *placeError) Unwrap() error { return e.Err }

// Error has the keys only if Err does not name them: clusters[2].speed.
func (e *placeError) Error() string {
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

// faultUnder returns an error of a part of a machine, with the keys that lead to the part in front
// of its own. A nil error stays nil.
func faultUnder(err error, path ...any) error {
	var place *placeError
	if errors.As(err, &place) {
		place.Path = append(path, place.Path...)
	}
	return err
}

// faultIn returns an error with the line and column of a file where its keys stand. root is nil if
// the file could not be read as YAML; then the error has its line already.
func faultIn(root *yamlfile.Node, err error) error {
	var e *placeError
	switch {
	case root == nil || !errors.As(err, &e):
		return err
	case e.want:
		return root.Unwanted(e.Err.Error(), e.Path...)
	}
	return root.ErrorAt(e.Err, e.Path...)
}

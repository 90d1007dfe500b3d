// Package enum gives the values of an enumeration their names, both ways.
//
//	type Pass uint8
//
//	const (
//		PassInstant Pass = iota
//		PassEvent
//	)
//
//	var passes = enum.Of[Pass]("pass", "instant", "event")
//
//	func (p Pass) String() string              { return passes.Name(p) }
//	func ParsePass(s string) (Pass, error)     { return passes.Parse(s) }
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// Names are the names of the values 0, 1, 2 ... of T. kind is what people call such a value, in
// messages.
type Names[T ~uint8] struct {
	kind  string
	names []string
}

// Of names the values of T, 0 first; kind is what people call such a value.
func Of[T ~uint8](kind string, names ...string) Names[T] { return Names[T]{kind, names} }

// Name returns the name of v, or kind and number of a value that has none.
func (n Names[T]) Name(v T) string {
	if int(v) < len(n.names) {
		return n.names[v]
	}
	return fmt.Sprintf("%s(%d)", n.kind, uint8(v))
}

// Parse reads what Name writes. Its error is an *UnknownError.
func (n Names[T]) Parse(s string) (T, error) {
	if i := slices.Index(n.names, s); i >= 0 {
		return T(i), nil
	}
	return 0, &UnknownError{Kind: n.kind, Text: s, Want: n.Want(), Known: n.names}
}

// Want lists the names for people: "instant or event".
func (n Names[T]) Want() string {
	last := len(n.names) - 1
	if last < 1 {
		return strings.Join(n.names, "")
	}
	return strings.Join(n.names[:last], ", ") + " or " + n.names[last]
}

// UnknownError reports a name that an enumeration does not have.
type UnknownError struct {
	Kind, Text string
	// Want lists the names that there are, for people; Known are those of them that may be
	// suggested.
	Want  string
	Known []string
}

// Unknown returns the error of a name that is not known.
func Unknown(kind, text string, known []string) *UnknownError {
	return &UnknownError{Kind: kind, Text: text, Want: strings.Join(known, ", "), Known: known}
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s %q: want %s%s", e.Kind, e.Text, e.Want, Suggestion(e.Text, e.Known))
}

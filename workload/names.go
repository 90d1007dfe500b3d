package workload

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file is about names: what the numbers of users, groups, executables, queues
// and partitions stand for, where a log tells.

// The fields of a record whose numbers may stand for names.
const (
	FieldUser       = 12
	FieldGroup      = 13
	FieldExecutable = 14
	FieldQueue      = 15
	FieldPartition  = 16
)

// NamedFields are all of them.
var NamedFields = [...]int{FieldUser, FieldGroup, FieldExecutable, FieldQueue, FieldPartition}

// nameKeys are the keys of a header whose lines tell a number and its name, as in
// "Queue: 3 debug". Those of queues and partitions are SWF's.
var nameKeys = [len(NamedFields)]string{"User", "Group", "Executable", "Queue", "Partition"}

// Names maps the numbers of a field to names. Several goroutines may use Names that nobody changes.
type Names struct {
	name   map[int64]string // nil before the first; each number has one name
	number map[string]int64 // the first number of each name; the same names as in name
	last   int64            // the greatest number, or 0
}

// Number returns the number of a name. A new name gets the next number, from 1.
func (n *Names) Number(name []byte) int64 {
	if of, ok := n.number[string(name)]; ok {
		return of
	}
	n.Set(n.last+1, string(name))
	return n.last
}

// Find returns the number of a name, or Unknown.
func (n *Names) Find(name []byte) int64 {
	if of, ok := n.number[string(name)]; ok {
		return of
	}
	return Unknown
}

// Name returns the name of a number, or "".
func (n *Names) Name(number int64) string { return n.name[number] }

// Set gives a number its name. If a name has several numbers, Find returns the first.
func (n *Names) Set(number int64, name string) {
	if n.name == nil {
		n.name, n.number = map[int64]string{}, map[string]int64{}
	}
	n.name[number] = name
	if _, taken := n.number[name]; !taken {
		n.number[name] = number
	}
	n.last = max(n.last, number)
}

// Len returns the number of named numbers.
func (n *Names) Len() int { return len(n.name) }

// All yields numbers and names in ascending order of the numbers.
func (n *Names) All() iter.Seq2[int64, string] {
	return func(yield func(int64, string) bool) {
		for _, number := range slices.Sorted(maps.Keys(n.name)) {
			if !yield(number, n.name[number]) {
				return
			}
		}
	}
}

// clone is a copy that shares nothing.
func (n *Names) clone() Names { return Names{maps.Clone(n.name), maps.Clone(n.number), n.last} }

// Names returns the names of a field's numbers. The field is one of NamedFields. While the header
// is made, names may be added.
func (h *Header) Names(field int) *Names { return &h.names[field-FieldUser] }

// Forget removes the names of a field's numbers, and the lines that define them.
func (h *Header) Forget(field int) {
	h.names[field-FieldUser] = Names{}
	h.Drop(nameKeys[field-FieldUser])
}

// addName appends a line that tells what a number stands for.
func (h *Header) addName(key string, number int64, name string) {
	h.addLine("; " + key + ": " + strconv.FormatInt(number, 10) + " " + name)
}

// noteName takes in such a line, if the key is one of nameKeys. SWF has "Queue: 3 debug"; a colon
// behind the number is read, too.
func (h *Header) noteName(key, value string) {
	for i, known := range nameKeys {
		if !strings.EqualFold(key, known) {
			continue
		}
		number, name, ok := strings.Cut(value, " ")
		n, err := strconv.ParseInt(strings.TrimRight(number, ":"), 10, 64)
		if name = strings.TrimSpace(name); ok && err == nil && n >= 0 && name != "" {
			h.names[i].Set(n, name)
		}
	}
}

// printable reports whether a line of a header gives text back as it is.
func printable(text string) bool {
	return utf8.ValidString(text) && text != "" && text == strings.TrimSpace(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

package table

import (
	"fmt"
	"strconv"

	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
)

// This file is the pass over a whole log that finds what has to be known before its
// first record: where time begins, what is named, which columns are numbers.

// mostNames bounds how many names of a field are kept.
const mostNames = 1 << 20

type survey struct {
	header  *workload.Header
	submits Span
	named   [17]named // by field
	columns []column
}

// named is what a survey has met in a field that may be named.
type named struct {
	texts    map[string]bool
	order    []string
	size     int // of the texts, in bytes
	more     bool
	isName   bool // one is no number
	greatest int64
}

// column is what it has met in a column beyond SWF.
type column struct{ some, notNumber, notWhole bool }

// name takes note of a text.
func (s *survey) name(field int, text []byte) {
	n := &s.named[field]
	if n.texts[string(text)] || s.header.Names(field).Find(text) != workload.Unknown {
		return
	}
	if x, ok := number.Integer(text); ok {
		n.greatest = max(n.greatest, x)
	} else {
		n.isName = true
	}
	if n.more = n.more || len(n.order) == mostNames || n.size+len(text) > maxNames; n.more {
		return
	}
	if n.texts == nil {
		n.texts = map[string]bool{}
	}
	n.texts[string(text)] = true
	n.order = append(n.order, string(text))
	n.size += len(text)
}

func (s *survey) meets(c *Cell, text []byte, unknown bool) {
	if unknown {
		return
	}
	k := &s.columns[c.More-1]
	k.some = true
	if !k.notWhole {
		_, ok := number.Integer(text)
		k.notWhole = !ok
	}
	if k.notWhole && !k.notNumber {
		_, ok := number.Written(text)
		k.notNumber = !ok
	}
}

// Survey passes over the records that stand behind comments and heading, and completes
// the header: names, whether it is unsorted, and the start of the log where instants
// count from 1970.
func Survey(in *workload.Input, h *workload.Header, l *Layout, t *Log) (*kinds, error) {
	r := Read(in, h, l, t)
	s := &survey{header: h, columns: make([]column, len(h.Columns))}
	r.survey, r.base = s, 0
	for r.Next() {
	}
	if r.err != nil {
		return nil, r.err
	}
	s.submits.Tell(h, r.dated)
	for _, f := range workload.NamedFields {
		if err := s.named[f].settle(h.Names(f)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", in.Name(), workload.FieldNames[f-1], err)
		}
	}
	return &kinds{s.columns}, nil
}

// settle gives names their numbers. Where all are numbers these stand. Where some
// names are declared, numbers stand beside them. Otherwise all are names.
func (n *named) settle(names *workload.Names) error {
	switch {
	case !n.isName:
		return nil
	case n.more:
		return fmt.Errorf("there are more than %d names, or more than %d MiB of them: leave them out, or have them in a column beyond SWF", mostNames, maxNames>>20)
	}
	declared := names.Len() > 0
	next := n.greatest
	for number := range names.All() {
		next = max(next, number)
	}
	for _, text := range n.order {
		if !declared {
			names.Number([]byte(text))
		} else if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			next++
			names.Set(next, text)
		}
	}
	return nil
}

// kinds are what the columns beyond SWF were found to hold.
type kinds struct{ columns []column }

// Text reports whether column i, from 0, holds more than numbers.
func (k *kinds) Text(i int) bool { return k.columns[i].notNumber }

// Whole reports whether column i holds nothing but whole numbers.
func (k *kinds) Whole(i int) bool { return !k.columns[i].notWhole }

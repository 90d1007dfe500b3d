package table

import (
	"fmt"
	"strconv"

	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
)

// This file is the pass over a whole log with a Form that finds what has to be known before its
// first record: where time begins, what is named, which columns are numbers. The pass is an ordinary
// reading whose loose.survey is set, so that a survey and a reading agree on what is damaged.

// mostNames bounds how many names of a field are kept. A log with more has ids in the column, not
// names, and is refused.
const mostNames = 1 << 20

// survey has the findings of such a pass so far.
type survey struct {
	header  *workload.Header // has the names that comments declare
	submits Span
	named   [17]named // by field of SWF
	columns []column  // by column of the records; nil where nobody asks what they hold
}

// named has the texts that a survey has met in a field that may have names. Names that comments
// declare are not among them.
type named struct {
	texts    map[string]bool // those in order
	order    []string        // the texts, as they were met first
	size     int             // of the texts, in bytes; at most maxNames
	more     bool            // there was no room for one: settle refuses the log if it needs names
	isName   bool            // one of the texts is no number
	greatest int64           // the greatest of those that are numbers, or 0
}

// column has a survey's findings in a column beyond SWF. Texts that stand for an unknown value do
// not count.
type column struct{ notNumber, notWhole bool }

// name takes note of a text in a field that may be named.
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

// meets takes note of what stands in a column beyond SWF.
func (s *survey) meets(column int, text []byte, l *loose) {
	k := &s.columns[column]
	if k.notNumber || l.isUnknown(text) {
		return // nothing changes what holds more than numbers
	}
	if !k.notWhole {
		_, ok := number.Integer(text)
		k.notWhole = !ok
	}
	if k.notWhole {
		_, ok := number.Written(text)
		k.notNumber = !ok
	}
}

// SurveyLoose passes over the records of a text that Columns.Over opens, and completes the header:
// names, whether the log is unsorted, and its start if instants count from 1970. It returns what the
// columns of the header hold. A log in which every line is damaged, or in strict mode any, is refused
// here already.
func (l *Columns) SurveyLoose(in *workload.Input, h *workload.Header) (*kinds, error) {
	k := &kinds{make([]column, len(h.Columns))}
	return k, l.passOver(in, h, k.columns)
}

// passOver is SurveyLoose with the memory of what the columns hold; nil where nobody asks.
func (l *Columns) passOver(in *workload.Input, h *workload.Header, columns []column) error {
	t, err := l.Rows(in, h)
	if err != nil {
		return err
	}
	s := &survey{header: h, columns: columns}
	t.loose.survey, t.loose.base = s, 0
	for t.Next() {
	}
	if t.err != nil {
		return t.err
	}
	s.submits.Tell(h, t.loose.dated)
	for _, f := range workload.NamedFields {
		if err := s.named[f].settle(h.Names(f)); err != nil {
			return fmt.Errorf("%s: %s: %w", in.Name(), workload.FieldNames[f-1], err)
		}
	}
	return nil
}

// settle gives names their numbers:
//
//	met          declared   becomes
//	7 9          any        7 and 9: all are numbers
//	7 bob 7      none       1, 2, 1: a number beside names is a name, too
//	7 bob 9      3 = ann    7, 10, 9: numbers stand, and a new name gets one above all of them
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

// kinds tells what the columns beyond SWF were found to hold. A column in which nothing is known
// counts as one of whole numbers.
type kinds struct{ columns []column }

// Text reports whether column i, from 0, holds more than numbers.
func (k *kinds) Text(i int) bool { return k.columns[i].notNumber }

// Whole reports whether column i holds nothing but whole numbers.
func (k *kinds) Whole(i int) bool { return !k.columns[i].notWhole }

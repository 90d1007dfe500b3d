package workload

import "fmt"

// This file counts what a log loses on its way into another format.

// Loss is a piece of information that a format cannot hold.
type Loss struct {
	What    string // "memory", "field 14 (executable)"
	Why     string // for people; "" where the format has no place for it
	Records int64  // how many records told of it
}

func (l Loss) String() string {
	text := fmt.Sprintf("%s of %d records", l.What, l.Records)
	if l.Why != "" {
		text += ": " + l.Why
	}
	return text
}

// Losses counts the information that a writer cannot hold.
type Losses struct {
	fields  [numFields + 1]int64 // by field: records that tell it, if it is not held
	columns []int64              // by column: the same
	held    uint32               // the fields that are held: bit f of field f
	names   []string             // by column of the header
	kept    []bool               // by column: it is held
	others  []Loss               // of other kinds, no two with the same What and Why
}

// allFields are those of SWF.
const allFields = 1<<(numFields+1) - 2

// FieldSet returns a set of fields, from 1 to 18, for NewLosses.
func FieldSet(fields ...int) uint32 {
	var set uint32
	for _, f := range fields {
		set |= 1 << f
	}
	return set
}

// NewLosses returns the counter for a format that holds these fields of SWF (see FieldSet) and the
// columns of these names.
func NewLosses(h *Header, fields uint32, columns ...string) *Losses {
	l := &Losses{held: fields, columns: make([]int64, len(h.Columns))}
	for _, c := range h.Columns {
		kept := false
		for _, name := range columns {
			kept = kept || name == c.Name
		}
		l.names, l.kept = append(l.names, c.Name), append(l.kept, kept)
	}
	return l
}

// Count counts the values of a record that the format does not hold.
func (l *Losses) Count(rec *Record) {
	if l.held != allFields {
		for f, known := range rec.known() {
			if known && l.held>>f&1 == 0 {
				l.fields[f]++
			}
		}
	}
	for i, v := range rec.More {
		if !l.kept[i] && v.Known() {
			l.columns[i]++
		}
	}
}

// Add counts one record that loses something for another reason.
func (l *Losses) Add(what, why string) {
	for i := range l.others {
		if o := &l.others[i]; o.What == what && o.Why == why {
			o.Records++
			return
		}
	}
	l.others = append(l.others, Loss{what, why, 1})
}

// All returns the losses: fields, columns, then others in the order of their first record.
func (l *Losses) All() []Loss {
	var all []Loss
	for f, n := range l.fields {
		if n > 0 {
			all = append(all, Loss{What: fieldLabel(f), Records: n})
		}
	}
	for i, n := range l.columns {
		if n > 0 {
			all = append(all, Loss{What: l.names[i], Records: n})
		}
	}
	return append(all, l.others...)
}

// known tells of each field, from 1, whether it is given.
func (r *Record) known() [numFields + 1]bool {
	return [numFields + 1]bool{
		false, true, r.Submit >= 0, r.Wait >= 0, r.Runtime >= 0, r.Allocated >= 0, r.CPUTime >= 0, r.UsedMemory >= 0, r.Requested >= 0, r.Estimate >= 0,
		r.RequestedMemory >= 0, r.Status >= 0, r.User >= 0, r.Group >= 0, r.Executable >= 0, r.Queue >= 0, r.Partition >= 0, r.Preceding >= 0, r.ThinkTime >= 0,
	}
}

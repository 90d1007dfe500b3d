package workload

import (
	"strconv"
	"unsafe"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
)

// This file reads and writes single fields of a record, for formats that have them in
// another order than SWF.

// FieldNames are the column names that tables give to the fields of SWF: field f has the name
// FieldNames[f-1].
var FieldNames = [numFields]string{
	"job", "submit", "wait", "runtime", "allocated", "cpu_time", "used_memory", "requested", "estimate",
	"requested_memory", "status", "user", "group", "executable", "queue", "partition", "preceding", "think_time",
}

// UnknownRecord is a record in which no field is known. Readers of other formats begin with a copy of
// it, and fill in what their log tells.
var UnknownRecord = Record{
	Unknown, UnknownTime, UnknownTime, UnknownTime, Unknown, UnknownTime, Unknown, Unknown, UnknownTime,
	Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, UnknownTime, nil,
}

// IsTime reports whether a field, from 1 to 18, holds a time.
func IsTime(field int) bool { return timeFields>>(field-1)&1 != 0 }

// fields are the fields of SWF in their order, times in ticks: a Record begins with 18 numbers of 64
// bits, which are these. The types of Record's first 18 fields must therefore stay of that size; it
// spares the reader of SWF, which parses all fields alike, a switch for each.
func (r *Record) fields() *[numFields]int64 { return (*[numFields]int64)(unsafe.Pointer(r)) }

// Field is a field, from 1 to 18, times in ticks.
func (r *Record) Field(field int) int64 { return r.fields()[field-1] }

// Put sets a field, from 1 to 18, times in ticks.
func (r *Record) Put(field int, n int64) { r.fields()[field-1] = n }

// AppendField appends a field, from 1 to 18, as SWF has it: times in seconds.
func (r *Record) AppendField(b []byte, field int) []byte {
	if IsTime(field) {
		return des.Time(r.Field(field)).Append(b)
	}
	return strconv.AppendInt(b, r.Field(field), 10)
}

// SetField sets a field, from 1 to 18, to what the text says by the rules of SWF:
// times in seconds, memory in whole kB. If ok is false the text is none of the field's
// values, for that reason. If it is true the only reason may be MemoryFractionDropped;
// otherwise the reason has no meaning.
func (r *Record) SetField(field int, text []byte) (why Reason, ok bool) {
	n, why, ok := parseField(text, field-1)
	if ok {
		r.Put(field, n)
	}
	return why, ok
}

// wrong is the first field that no log can have, and why: one that is negative where SWF allows that
// only in the form of "unknown", or not at all, or a size that is larger than any machine. It is 0
// where there is none.
func (r *Record) wrong() (field int, why Reason) {
	switch {
	case r.Job < 0:
		return 1, NegativeNumber
	case r.Submit < 0 && !partial(r.Status): // bursts of a checkpointed job may have no submission
		return 2, NegativeNumber
	case r.Runtime < 0 && r.Runtime != UnknownTime:
		return 4, NegativeNumber
	case r.Allocated < Unknown:
		return 5, NegativeNumber
	case r.Requested < Unknown:
		return 8, NegativeNumber
	case r.Estimate < 0 && r.Estimate != UnknownTime:
		return 9, NegativeNumber
	case r.Allocated > maxSize:
		return 5, OutOfRange
	case r.Requested > maxSize:
		return 8, OutOfRange
	}
	return 0, 0
}

// ParseTime reads seconds to the microsecond, of a magnitude of at most MaxTime, by the grammar that
// all formats share; formats of other modules use it.
func ParseTime(text []byte) (des.Time, Reason, bool) {
	t, fault := number.Time(text, MaxTime)
	return t, reasonOf(fault), fault == number.Sound
}

// Expected describes for people the contents of a field, from 1 to 18.
func Expected(field int) string { return expectation(field) }

package workload

import (
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
)

// This file reads and writes single fields of a record, for formats that have them in
// another order than SWF.

// FieldNames are what tables call the fields of SWF: field f is FieldNames[f-1].
var FieldNames = [numFields]string{
	"job", "submit", "wait", "runtime", "allocated", "cpu_time", "used_memory", "requested", "estimate",
	"requested_memory", "status", "user", "group", "executable", "queue", "partition", "preceding", "think_time",
}

// UnknownRecord tells nothing.
var UnknownRecord = Record{
	Unknown, UnknownTime, UnknownTime, UnknownTime, Unknown, UnknownTime, Unknown, Unknown, UnknownTime,
	Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, UnknownTime, nil,
}

// IsTime reports whether a field, from 1 to 18, holds a time.
func IsTime(field int) bool { return timeFields>>(field-1)&1 != 0 }

// Field is a field, from 1 to 18, times in ticks.
func (r *Record) Field(field int) int64 {
	switch field {
	case 1:
		return r.Job
	case 2:
		return int64(r.Submit)
	case 3:
		return int64(r.Wait)
	case 4:
		return int64(r.Runtime)
	case 5:
		return r.Allocated
	case 6:
		return int64(r.CPUTime)
	case 7:
		return r.UsedMemory
	case 8:
		return r.Requested
	case 9:
		return int64(r.Estimate)
	case 10:
		return r.RequestedMemory
	case 11:
		return r.Status
	case 12:
		return r.User
	case 13:
		return r.Group
	case 14:
		return r.Executable
	case 15:
		return r.Queue
	case 16:
		return r.Partition
	case 17:
		return r.Preceding
	}
	return int64(r.ThinkTime)
}

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

// Put sets a field, from 1 to 18, times in ticks.
func (r *Record) Put(field int, n int64) {
	switch field {
	case 1:
		r.Job = n
	case 2:
		r.Submit = des.Time(n)
	case 3:
		r.Wait = des.Time(n)
	case 4:
		r.Runtime = des.Time(n)
	case 5:
		r.Allocated = n
	case 6:
		r.CPUTime = des.Time(n)
	case 7:
		r.UsedMemory = n
	case 8:
		r.Requested = n
	case 9:
		r.Estimate = des.Time(n)
	case 10:
		r.RequestedMemory = n
	case 11:
		r.Status = n
	case 12:
		r.User = n
	case 13:
		r.Group = n
	case 14:
		r.Executable = n
	case 15:
		r.Queue = n
	case 16:
		r.Partition = n
	case 17:
		r.Preceding = n
	case 18:
		r.ThinkTime = des.Time(n)
	}
}

// Negative is the first field that is negative where SWF allows it only in the form of
// "unknown", or not at all; 0 where there is none.
func (r *Record) Negative() int {
	switch {
	case r.Job < 0:
		return 1
	case r.Submit < 0 && !partial(r.Status): // bursts of a checkpointed job may have no submission
		return 2
	case r.Runtime < 0 && r.Runtime != UnknownTime:
		return 4
	case r.Allocated < Unknown:
		return 5
	case r.Requested < Unknown:
		return 8
	case r.Estimate < 0 && r.Estimate != UnknownTime:
		return 9
	}
	return 0
}

// ParseTime reads seconds to the microsecond, of a magnitude of at most MaxTime, by the grammar that
// all formats share; formats of other modules use it.
func ParseTime(text []byte) (des.Time, Reason, bool) {
	t, fault := number.Time(text, MaxTime)
	return t, reasonOf(fault), fault == number.Sound
}

// Expected says for people what a field, from 1 to 18, should hold.
func Expected(field int) string { return expectation(field) }

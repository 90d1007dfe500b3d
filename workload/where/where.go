// Package where makes filters of logs of expressions over their records:
//
//	not (user == 374 and submit in 4000000..4500000)
//	status == "completed" and procs in 1..64 and runtime >= 60
//	queue in ["debug", "batch"] and hour in 8..17 and day in 1..5
//	gpus > 0                               a column of the log beyond SWF
//
// The language is described in package expression: an unknown value is neither equal to anything
// nor smaller or larger, and known(FIELD) asks. Fields says what there is. Times are in seconds.
//
//	filter, err := where.Parse("user == 3")
//	trace, err := workload.Options{Part: workload.Part{Where: filter}}.Open("log.swf")
//
// It is a package of its own because programs without filters compile no parser.
package where

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/expression"
	"github.com/gridslot/gridslot/workload"
)

// filter is an expression over records. It is a workload.Filter.
type filter struct{ text string }

// Parse reads an expression. Which columns and names a log has shows when it is opened; what
// is wrong with the expression itself is an *expression.Error at once.
func Parse(text string) (*filter, error) {
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		// It is to stand in one line of a header.
		return nil, &expression.Error{Noun: noun, Text: text, Column: len([]rune(text[:i])) + 1, Problem: "line ends and the like cannot stand here"}
	}
	if err := expression.Check(noun, text); err != nil {
		return nil, err
	}
	return &filter{text}, nil
}

// noun is the name of an expression of this package in messages.
const noun = "filter"

// String is the expression.
func (f *filter) String() string { return f.text }

// Bind makes the filter for logs with that header, in which procs is the size of a job. What is wrong is an *expression.Error.
func (f *filter) Bind(h *workload.Header, procs workload.ProcsFrom) (func(*workload.Record, int64) bool, error) {
	is, _, err := language(h, procs).Condition(f.text)
	if err != nil {
		return nil, err
	}
	return func(rec *workload.Record, line int64) bool { return is(row{rec, line}, 0) }, nil
}

// row is a record and where it stands.
type row struct {
	*workload.Record
	line int64
}

// field is a value of a record that an expression can use by name.
type field = expression.Field[row]

// language returns the language of filters of logs with such a header. procs is the rule for the
// size of a job.
func language(h *workload.Header, procs workload.ProcsFrom) *expression.Language[row] {
	l := &expression.Language[row]{Noun: noun, Example: "user == 3", Fields: []field{
		whole("id", func(r *workload.Record) int64 { return r.Job }),
		{Name: "line", Number: func(r row, _ des.Time) float64 { return float64(r.line) }},
		seconds("submit", func(r *workload.Record) des.Time { return r.Submit }),
		seconds("wait", func(r *workload.Record) des.Time { return r.Wait }),
		seconds("runtime", func(r *workload.Record) des.Time { return r.Runtime }),
		seconds("estimate", func(r *workload.Record) des.Time { return r.Estimate }),
		seconds("cpu", func(r *workload.Record) des.Time { return r.CPUTime }),
		seconds("think", func(r *workload.Record) des.Time { return r.ThinkTime }),
		whole("procs", func(r *workload.Record) int64 {
			if n, _ := procs.Size(r); n > 0 {
				return n
			}
			return workload.Unknown
		}),
		whole("requested", func(r *workload.Record) int64 { return r.Requested }),
		whole("allocated", func(r *workload.Record) int64 { return r.Allocated }),
		whole("memory", func(r *workload.Record) int64 { return r.RequestedMemory }),
		whole("used_memory", func(r *workload.Record) int64 { return r.UsedMemory }),
		whole("preceding", func(r *workload.Record) int64 { return r.Preceding }),
		{
			Name: "status", Number: whole("", func(r *workload.Record) int64 { return r.Status }).Number, Values: statuses,
			Text: func(r row, _ des.Time) string {
				if n := r.Status; n >= 0 && n < int64(len(statuses)) {
					return statuses[n]
				}
				return ""
			},
		},
		named(h, "user", workload.FieldUser, func(r *workload.Record) int64 { return r.User }),
		named(h, "group", workload.FieldGroup, func(r *workload.Record) int64 { return r.Group }),
		named(h, "executable", workload.FieldExecutable, func(r *workload.Record) int64 { return r.Executable }),
		named(h, "queue", workload.FieldQueue, func(r *workload.Record) int64 { return r.Queue }),
		named(h, "partition", workload.FieldPartition, func(r *workload.Record) int64 { return r.Partition }),
	}}
	// The calendar, if the header tells it, and the columns of this log, whose names may not hide others.
	l.Fields = append(l.Fields, calendar(h)...)
	for i := range h.Columns {
		f := column(h.Columns[i], i)
		if !slices.ContainsFunc(l.Fields, func(of field) bool { return of.Name == f.Name }) {
			l.Fields = append(l.Fields, f)
		}
	}
	l.Column = func(name string) (field, bool) {
		i := slices.IndexFunc(h.Columns, func(c workload.Column) bool { return c.Name == name })
		if i < 0 {
			return field{}, false
		}
		return column(h.Columns[i], i), true
	}
	return l
}

// statuses are the names of what field 11 of SWF says.
var statuses = []string{
	workload.StatusFailed: "failed", workload.StatusCompleted: "completed", workload.StatusPartial: "partial",
	workload.StatusPartialDone: "partial-done", workload.StatusPartialFail: "partial-failed", workload.StatusCancelled: "cancelled",
}

// whole is a field of numbers; one below 0 is unknown.
func whole(name string, of func(*workload.Record) int64) field {
	return field{Name: name, Number: func(r row, _ des.Time) float64 {
		if n := of(r.Record); n >= 0 {
			return float64(n)
		}
		return math.NaN()
	}}
}

// seconds is a field of times, in seconds; one below 0 is unknown.
func seconds(name string, of func(*workload.Record) des.Time) field {
	return field{Name: name, Number: func(r row, _ des.Time) float64 {
		if t := of(r.Record); t >= 0 {
			return t.Seconds()
		}
		return math.NaN()
	}}
}

// named is a field whose numbers stand for names, where the header tells them.
func named(h *workload.Header, name string, number int, of func(*workload.Record) int64) field {
	names := h.Names(number)
	f := whole(name, of)
	f.Text = func(r row, _ des.Time) string { return names.Name(of(r.Record)) }
	return f
}

// column is the field of column i of a log beyond SWF. Its name may be that of a field of SWF, which
// then goes before it; Language.Column finds it all the same.
func column(c workload.Column, i int) field {
	value := func(r row) workload.Value {
		if i < len(r.More) {
			return r.More[i]
		}
		return workload.UnknownValue
	}
	f := field{Name: c.Name}
	if c.Text {
		f.Text = func(r row, _ des.Time) string { return value(r).Text }
	} else {
		f.Number = func(r row, _ des.Time) float64 { return value(r).Number }
	}
	return f
}

// days are those of the week, the first of which is day 1.
var days = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// calendar are fields of the instant of submission in the log's time zone: the hour, 0 to
// 23, the day of the week, 1 to 7 from Monday, and the date as a text, 1996-09-23.
func calendar(h *workload.Header) []field {
	start, err := h.Start()
	if err != nil {
		return []field{{Name: "hour", Missing: err.Error()}, {Name: "day", Missing: err.Error()}, {Name: "date", Missing: err.Error()}}
	}
	when := func(r row) time.Time { return workload.Calendar(start, r.Submit) }
	day := func(r row) int { return (int(when(r).Weekday()) + 6) % 7 }
	return []field{
		{Name: "hour", Number: func(r row, _ des.Time) float64 {
			if r.Submit < 0 {
				return math.NaN()
			}
			return float64(when(r).Hour())
		}},
		{
			Name: "day", Values: days,
			Number: func(r row, _ des.Time) float64 {
				if r.Submit < 0 {
					return math.NaN()
				}
				return float64(day(r) + 1)
			},
			Text: func(r row, _ des.Time) string {
				if r.Submit < 0 {
					return ""
				}
				return days[day(r)]
			},
		},
		{Name: "date", Text: func(r row, _ des.Time) string {
			if r.Submit < 0 {
				return ""
			}
			return when(r).Format(time.DateOnly)
		}},
	}
}

package batsim

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/blocks"
	"github.com/gridslot/gridslot/workload"
)

// This file writes workloads. Profiles are written behind the jobs, one for each
// runtime there is. What Batsim has no place for stands in the extra_data of jobs, which
// it hands to the scheduler, and in members of the workload beside its own.

// writer writes a workload, in one pass.
type writer struct {
	blocks.Writer
	header *workload.Header
	lost   *workload.Losses
	delays map[des.Time]bool // the runtimes met so far, each of which becomes a profile
	jobs   int64             // how many were written
}

// blockSize is the number of bytes that the writer gathers before it writes them.
const blockSize = 256 << 10

// Write begins a workload: what the header says comes first, in the order nb_res, header, columns,
// names, so that a reader knows the columns before the first job. The runtimes that differ are kept
// in memory until Close.
func (Format) Write(out io.Writer, h *workload.Header) (workload.RecordWriter, error) {
	var columns []string
	for _, c := range h.Columns {
		columns = append(columns, c.Name)
	}
	var all []int
	for i := range workload.FieldNames {
		all = append(all, i+1)
	}
	w := &writer{Writer: blocks.NewWriter(out, blockSize), header: h, lost: workload.NewLosses(h, workload.FieldSet(all...), columns...), delays: map[des.Time]bool{}}
	w.Text = append(w.Text, "{\n"...)
	if h.MaxProcs > 0 {
		w.Text = append(strconv.AppendInt(append(w.Text, `"nb_res": `...), h.MaxProcs, 10), ",\n"...)
	} else if h.MaxNodes > 0 {
		w.Text = append(strconv.AppendInt(append(w.Text, `"nb_res": `...), h.MaxNodes, 10), ",\n"...)
	}
	w.Text = append(w.Text, `"header": [`...)
	for i, line := range h.Lines() {
		if i > 0 {
			w.Text = append(w.Text, ',')
		}
		w.Text = append(w.Text, '\n')
		w.Text = w.text(w.Text, line, "header")
	}
	w.Text = append(w.Text, "],\n\"columns\": ["...)
	for i, c := range h.Columns {
		if i > 0 {
			w.Text = append(w.Text, ',')
		}
		w.Text = w.text(append(w.Text, "\n{\"name\": "...), c.Name, "columns")
		w.Text = w.text(append(w.Text, `, "unit": `...), c.Unit, "columns")
		w.Text = append(strconv.AppendBool(append(w.Text, `, "text": `...), c.Text), '}')
	}
	w.Text = append(w.Text, "],\n\"names\": {"...)
	w.names()
	w.Text = append(w.Text, "},\n\"jobs\": ["...)
	return w, w.Spill()
}

// names writes the members of the object "names": what numbers stand for, by field.
func (w *writer) names() {
	several := false
	for _, f := range workload.NamedFields {
		names := w.header.Names(f)
		if names.Len() == 0 {
			continue
		}
		if several {
			w.Text = append(w.Text, ',')
		}
		several = true
		w.Text = append(w.text(append(w.Text, '\n'), workload.FieldNames[f-1], ""), ": {"...)
		first := true
		for n, name := range names.All() {
			if !first {
				w.Text = append(w.Text, ',')
			}
			first = false
			w.Text = append(strconv.AppendInt(append(w.Text, "\n\""...), n, 10), `": `...)
			w.Text = w.text(w.Text, name, "names")
			_ = w.Spill()
		}
		w.Text = append(w.Text, '}')
	}
}

// text appends a string of JSON. of is what the loss is told of if a byte of it has no place there.
func (w *writer) text(b []byte, s, of string) []byte {
	if !utf8.ValidString(s) {
		w.lost.Add(of, "JSON has no place for what is no UTF-8")
	}
	in, _ := json.Marshal(s) // of a string it cannot fail
	return append(b, in...)
}

// Write writes a job. A record without a submission, a size or a runtime is none of Batsim's, and is
// left out, which is told.
func (w *writer) Write(rec *workload.Record) error {
	size := rec.Requested
	if size <= 0 {
		size = rec.Allocated
	}
	if rec.Runtime < 0 || size <= 0 || rec.Submit < 0 {
		w.lost.Add("record", "a job of Batsim has a submission, a size and a runtime")
		return w.Spill()
	}
	w.lost.Count(rec)
	if rec.Requested <= 0 {
		w.lost.Add("requested processors", "they are unknown, and the allocated ones stand in their place")
	}
	// The members that Batsim defines, with a profile that stands for the runtime.
	b := w.Text
	if w.jobs > 0 {
		b = append(b, ',')
	}
	w.jobs++
	w.delays[rec.Runtime] = true
	b = append(b, "\n{\"id\": "...)
	if id := w.id(rec); id != "" {
		b = w.text(b, id, "id")
		if rec.Job != w.jobs { // otherwise the reader gives the job this number again
			w.lost.Add("job number", "the id that is text stands in its place")
		}
	} else {
		b = append(strconv.AppendInt(append(b, '"'), rec.Job, 10), '"')
	}
	b = rec.Submit.Append(append(b, `, "subtime": `...))
	b = strconv.AppendInt(append(b, `, "res": `...), size, 10)
	if rec.Estimate >= 0 {
		b = rec.Estimate.Append(append(b, `, "walltime": `...))
	}
	b = rec.Runtime.Append(append(b, `, "profile": "delay_`...))
	b = append(b, '"')
	w.Text = append(w.extra(b, rec), '}')
	return w.Spill()
}

// id is the text of an id that is no number, or "".
func (w *writer) id(rec *workload.Record) string {
	for i, c := range w.header.Columns {
		if c.Name == "id" && i < len(rec.More) {
			return rec.More[i].Text
		}
	}
	return ""
}

// extra appends what else a record says, as the object extra_data: the fields of SWF that a job of
// Batsim does not have, under their names, and the columns. Without any there is no such object.
func (w *writer) extra(b []byte, rec *workload.Record) []byte {
	begin := len(b)
	key := func(name string) { // begins a member, and before the first one the object
		if len(b) == begin {
			b = append(b, `, "extra_data": {`...)
		} else {
			b = append(b, ", "...)
		}
		b = append(w.text(b, name, "columns"), ": "...)
	}
	for f := 1; f <= len(workload.FieldNames); f++ {
		name := workload.FieldNames[f-1]
		if field(name) == 0 {
			continue
		}
		if n := rec.Field(f); workload.IsTime(f) && n != int64(workload.UnknownTime) || !workload.IsTime(f) && n != workload.Unknown {
			key(name)
			b = rec.AppendField(b, f)
		}
	}
	// A column under the name of a field would be read as the field.
	for i, v := range rec.More {
		c := w.header.Columns[i]
		switch {
		case !v.Known() || c.Name == "id" && v.Text != "":
		case math.IsInf(v.Number, 0):
			w.lost.Add(c.Name, "JSON has no infinity")
		case field(c.Name) > 0 || isOwn(c.Name):
			w.lost.Add(c.Name, "the name is that of a field")
		case c.Text:
			key(c.Name)
			b = w.text(b, v.Text, c.Name)
		default:
			key(c.Name)
			b = strconv.AppendFloat(b, v.Number, 'g', -1, 64)
		}
	}
	if len(b) > begin {
		b = append(b, '}')
	}
	return b
}

// isOwn reports whether a reader would take a column for something else.
func isOwn(column string) bool {
	return column == "id" || column == "profile" || column == "profile_type"
}

// Close writes the profiles, one for each runtime, and ends the workload.
func (w *writer) Close() error {
	w.Text = append(w.Text, "],\n\"profiles\": {"...)
	for i, d := range delays(w.delays) {
		if i > 0 {
			w.Text = append(w.Text, ',')
		}
		w.Text = append(d.Append(append(w.Text, "\n\"delay_"...)), `": {"type": "DelayProfile", "delay": `...)
		w.Text = append(d.Append(w.Text), '}')
		if err := w.Spill(); err != nil {
			return err
		}
	}
	w.Text = append(w.Text, "}\n}\n"...)
	return w.Flush()
}

func (w *writer) Lost() *workload.Losses { return w.lost }

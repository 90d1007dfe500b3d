// Package parquet reads logs kept as tables of Apache Parquet with a column for each of the 18
// fields of SWF, and one for each column beyond them, as notebooks write them with one call.
//
//	job  submit  wait  runtime  allocated ...  gpus  qos
//	1    0.0     12.5  3600     64             4     "long"
//	2    8.0     null  60       1              null  "short"
//
// Times are in seconds, memory in kB a processor, as in SWF; what is not known is null. A
// table that a notebook has made will do as well: job and submit must be there, any other
// column of text or numbers is one beyond SWF. The header and what numbers stand for may be kept beside
// the columns, under the key "gridslot" of the file.
package parquet

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/columns"
	"github.com/gridslot/gridslot/workload/internal/floats"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
)

// Key is where a file keeps Kept.
const Key = "gridslot"

// Kept is, in JSON, what a log tells beside its records.
type Kept struct {
	Header   []string                    `json:"header,omitempty"` // the lines of SWF
	Columns  []workload.Column           `json:"columns,omitempty"`
	Names    map[string]map[int64]string `json:"names,omitempty"` // of user, group, executable, queue, partition
	Unsorted bool                        `json:"unsorted,omitempty"`
}

// Format is that of these tables.
type Format struct{}

func (Format) Name() string      { return "parquet" }
func (Format) Endings() []string { return []string{".parquet"} }

// Is reports whether it is a Parquet file with the columns job and submit.
func (Format) Is(in *workload.Input) bool {
	f := columns.Open(in)
	return f != nil && needed(f) == nil
}

func needed(f *parquetfile.File) error {
	for i, name := range workload.FieldNames {
		at := f.Find(name)
		switch {
		case at < 0 && i < 2:
			return fmt.Errorf("it has no column %s: a table of jobs needs %s and %s", name, workload.FieldNames[0], workload.FieldNames[1])
		case at >= 0 && (f.Columns[at].List || f.Columns[at].Kind != parquetfile.Whole && f.Columns[at].Kind != parquetfile.Number):
			return fmt.Errorf("its column %s does not hold numbers", name)
		}
	}
	return nil
}

func open(in *workload.Input) (*parquetfile.File, error) {
	stored, size, err := in.Stored()
	if err != nil {
		return nil, err
	}
	f, err := parquetfile.Open(stored, size)
	if err == nil {
		err = needed(f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: reading it as Parquet: %w", in.Name(), err)
	}
	return f, nil
}

// beyond are the places of columns that are no fields of SWF and can be read.
func beyond(f *parquetfile.File) (places []int) {
	for i, c := range f.Columns {
		if slices.Contains(workload.FieldNames[:], c.Name) || c.List || c.Kind == parquetfile.Other || c.Kind == parquetfile.Instant {
			continue
		}
		places = append(places, i)
	}
	return places
}

// Survey reads what is kept beside the columns.
func (Format) Survey(in *workload.Input) (*workload.Header, error) {
	f, err := open(in)
	if err != nil {
		return nil, err
	}
	var kept Kept
	if text := f.Keys[Key]; text != "" {
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			return nil, fmt.Errorf("%s: what is kept under %q: %w", in.Name(), Key, err)
		}
	}
	lines := strings.NewReader(strings.Join(kept.Header, "\n") + "\n")
	r := workload.NewReader(lines)
	h := r.Header().Clone()
	for _, field := range workload.NamedFields {
		for number, name := range kept.Names[workload.FieldNames[field-1]] {
			h.Names(field).Set(number, name)
		}
	}
	h.Unsorted = kept.Unsorted
	for _, at := range beyond(f) {
		c := workload.Column{Name: f.Columns[at].Name, Text: f.Columns[at].Kind == parquetfile.Text}
		if i := slices.IndexFunc(kept.Columns, func(k workload.Column) bool { return k.Name == c.Name }); i >= 0 {
			c.Unit = kept.Columns[i].Unit
		}
		h.Columns = append(h.Columns, c)
	}
	return h, nil
}

// Read begins a reading; a row is a job.
func (Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	f, err := open(in)
	if err != nil {
		return nil, err
	}
	r := &reader{h: h, acc: workload.NewAccount(in, h), name: in.Name()}
	var read []int
	for i, name := range workload.FieldNames {
		r.at[i] = -1
		if at := f.Find(name); at >= 0 {
			r.at[i], r.whole[i] = len(read), f.Columns[at].Kind == parquetfile.Whole
			read = append(read, at)
		}
	}
	r.fields = len(read)
	extra := beyond(f)
	read = append(read, extra...)
	for i, c := range f.Columns {
		if !slices.Contains(read, i) {
			r.acc.Add(0, c.Name, workload.ExtraFields, []byte("a column that is not read"))
		}
	}
	r.more = make([]workload.Value, len(extra))
	r.rows = f.Read(read...)
	return r, nil
}

type reader struct {
	h      *workload.Header
	acc    *workload.Account
	name   string
	rows   *parquetfile.Rows
	at     [len(workload.FieldNames)]int
	whole  [len(workload.FieldNames)]bool // its values are integers
	fields int
	more   []workload.Value
	rec    workload.Record
	err    error
}

func (r *reader) Header() *workload.Header { return r.h }
func (r *reader) Record() *workload.Record { return &r.rec }
func (r *reader) Line() int64              { return r.rows.Row() }
func (r *reader) Report() *workload.Report { return r.acc.Report() }
func (r *reader) Err() error               { return r.err }

func (r *reader) Next() bool {
	for r.err == nil && r.rows.Next() {
		r.acc.Line()
		if i, why := r.take(); why != "" {
			reason := workload.OutOfRange
			if i < 2 && !r.rows.Column(r.at[i]).Known() {
				reason = workload.NotANumber
			}
			r.err = r.acc.Damage(r.Line(), workload.FieldNames[i], reason, []byte(r.text(i)), why)
			continue
		}
		r.acc.Took(r.Line(), &r.rec)
		return true
	}
	if r.err == nil {
		if r.err = r.acc.Ended(); r.rows.Err() != nil {
			r.err = fmt.Errorf("%s: %w", r.name, r.rows.Err())
		}
	}
	return false
}

func (r *reader) text(i int) string {
	if v := r.rows.Column(r.at[i]); v.Known() {
		return fmt.Sprint(v.Number())
	}
	return "null"
}

// take makes the record of a row; otherwise it names the field that is wrong, and what is
// wanted.
func (r *reader) take() (field int, want string) {
	r.rec = workload.UnknownRecord
	for i := range workload.FieldNames {
		if r.at[i] < 0 {
			continue
		}
		v := r.rows.Column(r.at[i])
		x := v.Number()
		switch {
		case !v.Known() || math.IsNaN(x) || x < 0:
			if i < 2 {
				return i, "a number of 0 or more"
			}
			continue
		case r.whole[i] && !workload.IsTime(i+1):
			r.rec.Put(i+1, v.Whole())
			continue
		}
		n, _, want := floats.Whole(x)
		if workload.IsTime(i + 1) {
			var at des.Time
			at, _, want = floats.Seconds(x)
			n = int64(at)
		}
		if want != "" {
			return i, want
		}
		r.rec.Put(i+1, n)
	}
	for i := range r.more {
		v := r.rows.Column(r.fields + i)
		switch {
		case !v.Known():
			r.more[i] = workload.UnknownValue
		case r.h.Columns[i].Text:
			r.more[i] = workload.TextValue(v.Text())
		default:
			r.more[i] = workload.NumberValue(v.Number())
		}
	}
	if len(r.more) > 0 {
		r.rec.More = r.more
	}
	return 0, ""
}

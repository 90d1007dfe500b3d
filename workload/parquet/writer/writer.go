// Package writer writes logs as tables of Apache Parquet, as package workload/parquet has
// them. It stands apart, so that who only reads does not compile the library.
package writer

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	library "github.com/parquet-go/parquet-go"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/parquet"
)

// Format is parquet.Format, which can be written, too.
type Format struct{ parquet.Format }

// Rows are handed on in batches; a group is in memory until it is complete.
const (
	batch = 1024
	group = 1 << 17
)

// Write begins a table. What it loses are times of more than 2^32 s, where microseconds are
// rounded.
func (Format) Write(w io.Writer, h *workload.Header) (_ workload.RecordWriter, err error) {
	schema, err := schemaOf(h.Columns)
	if err != nil {
		return nil, err
	}
	kept, err := json.Marshal(keptOf(h))
	if err != nil {
		return nil, err
	}
	var held []string
	for _, c := range h.Columns {
		held = append(held, c.Name)
	}
	all := make([]int, len(workload.FieldNames))
	for i := range all {
		all[i] = i + 1
	}
	n := len(all) + len(h.Columns)
	return &writer{
		out: library.NewWriter(w, schema, library.Compression(&library.Zstd), library.CreatedBy("gridslot", "", ""),
			library.KeyValueMetadata(parquet.Key, string(kept)), library.MaxRowsPerRowGroup(group)),
		columns: h.Columns,
		lost:    workload.NewLosses(h, workload.FieldSet(all...), held...),
		rows:    make([]library.Row, 0, batch),
		values:  make([]library.Value, batch*n),
		n:       n,
	}, nil
}

// keptOf is what the header says that no column does.
func keptOf(h *workload.Header) parquet.Kept {
	k := parquet.Kept{Header: h.Lines(), Columns: h.Columns, Unsorted: h.Unsorted, Names: map[string]map[int64]string{}}
	for _, field := range workload.NamedFields {
		of := map[int64]string{}
		for number, name := range h.Names(field).All() {
			of[number] = name
		}
		if len(of) > 0 {
			k.Names[workload.FieldNames[field-1]] = of
		}
	}
	return k
}

// schemaOf is a schema of optional columns in their order, which the library takes from
// the fields of a struct.
func schemaOf(beyond []workload.Column) (*library.Schema, error) {
	var fields []reflect.StructField
	seen := map[string]bool{}
	var wrong error
	add := func(name string, of reflect.Type, tag string) {
		if name == "" || name == "-" || strings.Contains(name, ",") || seen[name] {
			wrong = fmt.Errorf("a table of Parquet cannot have a column %q, or not a second one", name)
		}
		seen[name] = true
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", len(fields)), Type: of, Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", name+tag))})
	}
	for i, name := range workload.FieldNames {
		if workload.IsTime(i + 1) {
			add(name, reflect.TypeFor[float64](), ",optional")
		} else {
			add(name, reflect.TypeFor[int64](), ",optional")
		}
	}
	for _, c := range beyond {
		if c.Text {
			add(c.Name, reflect.TypeFor[string](), ",optional,dict")
		} else {
			add(c.Name, reflect.TypeFor[float64](), ",optional")
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return library.NewSchema("jobs", library.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())), nil
}

type writer struct {
	out interface {
		library.RowWriter
		io.Closer
	}
	columns []workload.Column
	lost    *workload.Losses
	rows    []library.Row
	values  []library.Value
	n       int // columns
}

func (w *writer) Lost() *workload.Losses { return w.lost }

func (w *writer) Write(rec *workload.Record) error {
	w.lost.Count(rec)
	row := library.Row(w.values[len(w.rows)*w.n:][:w.n])
	for i := range workload.FieldNames {
		v, of := library.NullValue(), rec.Field(i+1)
		switch {
		case of < 0 && i > 0:
		case workload.IsTime(i + 1):
			seconds := float64(of) / float64(des.Second)
			if int64(des.Seconds(seconds)) != of {
				w.lost.Add("microseconds", "a number of seconds is not that exact")
			}
			v = library.DoubleValue(seconds)
		default:
			v = library.Int64Value(of)
		}
		row[i] = levelled(v, i)
	}
	for k, c := range w.columns {
		v, i := library.NullValue(), len(workload.FieldNames)+k
		if k < len(rec.More) {
			switch of := rec.More[k]; {
			case c.Text && of.Text != "":
				v = library.ByteArrayValue([]byte(of.Text))
			case !c.Text && !math.IsNaN(of.Number):
				v = library.DoubleValue(of.Number)
			}
		}
		row[i] = levelled(v, i)
	}
	if w.rows = append(w.rows, row); len(w.rows) == batch {
		return w.flush()
	}
	return nil
}

// levelled is a value with what says that it is there.
func levelled(v library.Value, column int) library.Value {
	if v.IsNull() {
		return v.Level(0, 0, column)
	}
	return v.Level(0, 1, column)
}

func (w *writer) flush() error {
	_, err := w.out.WriteRows(w.rows)
	w.rows = w.rows[:0]
	return err
}

func (w *writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.out.Close()
}

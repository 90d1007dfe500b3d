// Package parquet writes the files of a simulation a second time, in Apache Parquet:
// the same rows and columns, with the types of package schema, for programs that read
// columns of typed values faster than text. A package of its own, so that who does not
// ask for it does not compile the library.
//
//	err := parquet.Beside("results", "jobs-easy.csv") // writes results/jobs-easy.parquet
package parquet

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/indir"
	"github.com/gridslot/gridslot/metrics/schema"
)

// Name is the name of a CSV file's Parquet, or of its path.
func Name(csv string) string { return schema.Parquet(csv) }

// Beside writes the file of that name, a CSV file in the folder, as Parquet beside it.
// A file that package schema does not describe is left alone.
func Beside(dir, name string) error {
	f, ok := schema.Of(name)
	if !ok {
		return nil
	}
	from, err := indir.Open(dir, name)
	if err != nil {
		return err
	}
	defer from.Close()
	err = atomicfile.Write(filepath.Join(dir, Name(name)), func(w io.Writer) error { return Write(w, from, &f) })
	if err != nil {
		return fmt.Errorf("%s as Parquet: %w", name, err)
	}
	return nil
}

// batch is how many rows are handed on at a time.
const batch = 1024

// Write writes a CSV file of that kind as Parquet. What cannot be read as the schema
// says is an error with its line and column.
func Write(w io.Writer, from io.Reader, f *schema.File) error {
	in := csv.NewReader(bufio.NewReaderSize(from, 1<<18))
	in.ReuseRecord = true
	names, err := in.Read()
	if err != nil {
		return err
	}
	columns, err := f.Header(names)
	if err != nil {
		return err
	}
	out := parquet.NewWriter(w, schemaOf(columns), parquet.Compression(&parquet.Zstd), parquet.CreatedBy("gridslot", "", ""))
	rows := make([]parquet.Row, 0, batch)
	values := make([]parquet.Value, batch*len(columns))
	flush := func() error {
		_, err := out.WriteRows(rows)
		rows = rows[:0]
		return err
	}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		row := values[len(rows)*len(columns):][:len(columns)]
		for i, c := range columns {
			v, err := valueOf(c.Type, record[i])
			if err != nil {
				line, _ := in.FieldPos(i)
				return fmt.Errorf("line %d, %s: %w", line, c.Name, err)
			}
			if v.IsNull() {
				row[i] = v.Level(0, 0, i)
			} else {
				row[i] = v.Level(0, 1, i)
			}
		}
		if rows = append(rows, row); len(rows) == batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return out.Close()
}

// valueOf is a field as a value; null where it is empty.
func valueOf(t schema.Type, text string) (parquet.Value, error) {
	switch {
	case text == "":
		return parquet.NullValue(), nil
	case t == schema.Text:
		return parquet.ByteArrayValue([]byte(text)), nil
	case t == schema.Number:
		v, err := strconv.ParseFloat(text, 64)
		return parquet.DoubleValue(v), err
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return parquet.Int64Value(v), err
}

// schemaOf is a schema of optional columns in their order, which the library takes from
// the fields of a struct.
func schemaOf(columns []schema.Column) *parquet.Schema {
	var fields []reflect.StructField
	for i, c := range columns {
		of, tag := reflect.TypeFor[int64](), ",optional"
		switch c.Type {
		case schema.Text:
			of, tag = reflect.TypeFor[string](), ",optional,dict"
		case schema.Number:
			of = reflect.TypeFor[float64]()
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: of, Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", c.Name+tag))})
	}
	return parquet.NewSchema("rows", parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()))
}

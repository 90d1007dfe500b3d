package formats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// parquetKey is the key under which a file keeps the metadata of a log.
const parquetKey = "gridslot"

// kept is, in JSON, what a log tells beside its records. All of it may be missing, as it is in tables
// of notebooks.
type kept struct {
	Header   []string                    `json:"header,omitempty"` // the lines of SWF
	Columns  []workload.Column           `json:"columns,omitempty"`
	Names    map[string]map[int64]string `json:"names,omitempty"` // of user, group, executable, queue, partition
	Unsorted bool                        `json:"unsorted,omitempty"`
}

// Parquet is the format of logs kept as tables of Apache Parquet with a column for each of the 18
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
type Parquet struct{}

// Name is "parquet".
func (Parquet) Name() string { return "parquet" }

// Endings returns ".parquet", which the published data sets of other formats (PM100, FData) have as
// well.
func (Parquet) Endings() []string { return []string{".parquet"} }

// Is reports whether it is a Parquet file with the columns job and submit.
func (Parquet) Is(in *workload.Input) bool {
	f := table.LooksParquet(in)
	return f != nil && parquetLacks(f) == nil
}

// parquetLacks says why a file is no table of jobs: it lacks job or submit, or has a field of SWF that
// does not hold numbers. It is nil for a table of jobs.
func parquetLacks(f *parquetfile.Columnar) error {
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

// openTable opens a file that is a table of jobs.
func openTable(in *workload.Input) (*parquetfile.Columnar, error) {
	f, err := table.OpenParquet(in)
	if err != nil {
		return nil, err
	}
	if err := parquetLacks(f); err != nil {
		return nil, fmt.Errorf("%s: reading it as Parquet: %w", in.Name(), err)
	}
	return f, nil
}

// parquetLayout is the layout of a file: the fields of SWF that it has, and the columns beyond them
// that can be read, in the file's order. Lists, and columns of other types, are left, which the
// reading tells.
func parquetLayout(f *parquetfile.Columnar) *table.Columns {
	l := &table.Columns{}
	for i, name := range workload.FieldNames {
		if f.Find(name) >= 0 {
			l.Fields = append(l.Fields, table.Field{Name: name, SWF: i + 1, Always: i < 2})
		}
	}
	for _, c := range f.Columns {
		switch {
		case slices.Contains(workload.FieldNames[:], c.Name) || c.List:
		case c.Kind == parquetfile.Text:
			l.Fields = append(l.Fields, table.Field{Name: c.Name, As: c.Name, Is: table.Text})
		case c.Kind == parquetfile.Whole || c.Kind == parquetfile.Number:
			l.Fields = append(l.Fields, table.Field{Name: c.Name, As: c.Name})
		}
	}
	return l
}

// Survey reads the header and the names of numbers, which may stand beside the columns.
func (Parquet) Survey(in *workload.Input) (*workload.Header, error) {
	f, err := openTable(in)
	if err != nil {
		return nil, err
	}
	var kept kept
	if text := f.Keys[parquetKey]; text != "" {
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			return nil, fmt.Errorf("%s: what is kept under %q: %w", in.Name(), parquetKey, err)
		}
	}
	// The lines are read as those of an SWF file, so that MaxProcs and the like are understood.
	lines := strings.NewReader(strings.Join(kept.Header, "\n") + "\n")
	r := workload.NewReader(lines)
	h := r.Header().Clone()
	for _, field := range workload.NamedFields {
		for number, name := range kept.Names[workload.FieldNames[field-1]] {
			h.Names(field).Set(number, name)
		}
	}
	h.Unsorted = kept.Unsorted
	// Which columns there are, and of what kind, the file itself tells; only their units are kept.
	for _, field := range parquetLayout(f).Fields {
		if field.As == "" {
			continue
		}
		c := workload.Column{Name: field.As, Text: field.Is == table.Text}
		if i := slices.IndexFunc(kept.Columns, func(k workload.Column) bool { return k.Name == c.Name }); i >= 0 {
			c.Unit = kept.Columns[i].Unit
		}
		h.Columns = append(h.Columns, c)
	}
	return h, nil
}

// Read begins a reading; a row is a job.
func (Parquet) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	f, err := openTable(in)
	if err != nil {
		return nil, err
	}
	return parquetLayout(f).Read(in, h)
}

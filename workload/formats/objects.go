package formats

import (
	"errors"
	"fmt"
	"io"

	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/parquetfile"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// This file is the Source of Philly's log: an array of objects, read one at a time.

// job is an object of the log.
type job struct {
	Status    string    `json:"status"`
	VC        string    `json:"vc"`
	ID        string    `json:"jobid"`
	User      string    `json:"user"`
	Submitted string    `json:"submitted_time"`
	Attempts  []attempt `json:"attempts"`
}

type attempt struct {
	Start  string   `json:"start_time"` // null, or "None", where it is not known
	End    string   `json:"end_time"`
	Detail []detail `json:"detail"`
}

type detail = struct {
	IP   string   `json:"ip"`
	GPUs []string `json:"gpus"`
}

// jobKeys are the keys of text.
var jobKeys = []string{"status", "vc", "jobid", "user", "submitted_time"}

// text is what an object has under jobKeys[at].
func (j *job) text(at int) string {
	return [...]string{j.Status, j.VC, j.ID, j.User, j.Submitted}[at]
}

// objects reads the objects of an array.
type objects struct {
	name    string
	scanner *jsontext.Scanner
	current job
	entry   table.Entry
	number  int64
	damage  error // the object is no job
	err     error
}

// longest is how many bytes an object may take.
const longest = 16 << 20

func openObjects(in *workload.Input) (table.Source, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return objectsOf(in.Name(), text)
}

func objectsOf(name string, text io.Reader) (*objects, error) {
	o := &objects{name: name, scanner: jsontext.NewScanner(text, longest), entry: table.Entry{Kind: parquetfile.Text}}
	if !o.scanner.Open('[') {
		return nil, fmt.Errorf("%s: it does not begin with an array of jobs", name)
	}
	return o, nil
}

// next finds the next object and reports whether there is one.
func (o *objects) next() bool {
	s := o.scanner
	if o.err != nil || !s.Element() || !s.Value() {
		o.fail(s.Err)
		return false
	}
	o.number++
	if s.TooLong {
		o.fail(fmt.Errorf("an object takes more than %d bytes", longest))
		return false
	}
	o.current = job{}
	o.damage = jsontext.Decode(s.Raw, &o.current)
	var wrong *jsontext.Error
	if errors.As(o.damage, &wrong) {
		wrong.Line += int(s.At) - 1
	}
	return true
}

func (o *objects) fail(err error) {
	if err != nil {
		o.err = fmt.Errorf("%s: object %d: %w", o.name, max(o.number, 1), err)
	}
}

func (o *objects) Columns() []string { return jobKeys }
func (o *objects) Err() error        { return o.err }

func (o *objects) Next(t *table.Rows) bool {
	if !o.next() {
		return false
	}
	if t.Account.Line(); o.damage != nil {
		t.DamageRow("", workload.NotANumber, []byte(o.damage.Error()), "a job as in README.md of the traces")
	}
	return true
}

func (o *objects) Entry(at int, _ table.Type) *table.Entry {
	o.entry.Text = o.current.text(at)
	return &o.entry
}

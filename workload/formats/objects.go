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

// job is an object of the log. Keys that are not read are passed over.
type job struct {
	Status    string    `json:"status"`
	VC        string    `json:"vc"`
	ID        string    `json:"jobid"`
	User      string    `json:"user"`
	Submitted string    `json:"submitted_time"`
	Attempts  []attempt `json:"attempts"`
}

// attempt is one run of a job; attempts stand in the order in which they ran.
type attempt struct {
	Start  string   `json:"start_time"` // null, or "None", if it is not known
	End    string   `json:"end_time"`   // not known while the attempt runs
	Detail []detail `json:"detail"`     // a server each
}

// detail is a server of an attempt, and the GPUs that the attempt had of it.
type detail = struct {
	IP   string   `json:"ip"`
	GPUs []string `json:"gpus"`
}

// jobKeys are the keys whose values are text: the columns of the table.
var jobKeys = []string{"status", "vc", "jobid", "user", "submitted_time"}

// text returns the text of an object under jobKeys[at].
func (j *job) text(at int) string {
	return [...]string{j.Status, j.VC, j.ID, j.User, j.Submitted}[at]
}

// objects reads the objects of an array. The attempts of the present one, which are no text, are for
// Philly.record.
type objects struct {
	name    string // of the input, for messages
	scanner *jsontext.Scanner
	current job
	entry   table.Entry // what Entry returns a pointer to
	number  int64       // of the present object, from 1
	damage  error       // the present object is no job; its lines are those of the file
	err     error       // what ended the reading
}

// longest is the largest number of bytes of an object. A longer object ends the reading, since
// nothing shows that it is a single job.
const longest = 16 << 20

// openObjects opens the log; it has the type of table.Columns.Over.
func openObjects(in *workload.Input) (table.Source, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return objectsOf(in.Name(), text)
}

// objectsOf begins to read an array of objects. name is what messages call the input.
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

// fail ends the reading with an error that tells the object at hand; nil is no error.
func (o *objects) fail(err error) {
	if err != nil {
		o.err = fmt.Errorf("%s: object %d: %w", o.name, max(o.number, 1), err)
	}
}

// Columns are the keys of text. Philly's further fields have no column; its record makes them.
func (o *objects) Columns() []string { return jobKeys }

// Err returns the error that ended the reading, or nil.
func (o *objects) Err() error { return o.err }

// Next goes to the next object. One that is no job is damaged, and the next one is read.
func (o *objects) Next(t *table.Rows) bool {
	if !o.next() {
		return false
	}
	if t.Tally.Line(); o.damage != nil {
		t.DamageRow("", workload.NotANumber, []byte(o.damage.Error()), "a job as in README.md of the traces")
	}
	return true
}

// Entry is the text under a key; an empty one is not known.
func (o *objects) Entry(at int, _ table.Type) *table.Entry {
	o.entry.Text = o.current.text(at)
	return &o.entry
}

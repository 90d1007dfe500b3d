package jobfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/blocks"
	"github.com/gridslot/gridslot/workload"
)

// Writer writes jobs. The first error ends it: every later call returns the same.
type Writer struct {
	// After has CSV have the column after. Without it a job that comes after others
	// is an error. Set it before the first job.
	After bool

	text  blocks.Writer
	json  bool                          // objects of JSON; otherwise rows of CSV
	begun bool                          // the heading of CSV is in text, or written
	err   error                         // the first error
	needs map[*entity.Attributes][]byte // the texts of those that were met first, at most kept
}

// NewWriter writes to w, in large blocks: Flush it at the end.
func NewWriter(w io.Writer, f Format) *Writer {
	return &Writer{text: blocks.NewWriter(w, blockSize), json: f == JSONL, needs: map[*entity.Attributes][]byte{}}
}

// blockSize is the number of bytes that the writer gathers before it writes them.
const blockSize = 1 << 16

// Write writes a job. It is an error if a Reader would not read the same job back, for example for
// a negative id or a label with a semicolon. The Extra of a job is not written.
func (w *Writer) Write(j *entity.Job) error {
	if w.err != nil {
		return w.err
	}
	w.begin()
	if err := writable(j); err != nil {
		w.err = fmt.Errorf("a job file cannot hold %v: %w", j, err)
		return w.err
	}
	if w.err = w.write(j); w.err != nil {
		w.err = fmt.Errorf("a job file cannot hold %v: %w", j, w.err)
	} else {
		w.err = w.text.Spill()
	}
	return w.err
}

// Flush writes the text that the writer still holds. If no job was written, it writes the heading.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	w.begin()
	w.err = w.text.Flush()
	return w.err
}

// begin writes the heading of CSV, once.
func (w *Writer) begin() {
	if !w.begun && !w.json {
		w.text.Text = append(w.text.Text, strings.Join(written, ",")...)
		if w.After {
			w.text.Text = append(append(w.text.Text, ','), colAfter.String()...)
		}
		w.text.Text = append(w.text.Text, '\n')
	}
	w.begun = true
}

// writable says why a Reader would refuse a job, or nil.
func writable(j *entity.Job) error {
	if err := j.Check(); err != nil {
		return err
	}
	const latest = workload.MaxTime
	q := &j.Request
	switch {
	case j.ID < 0:
		return fmt.Errorf("its id must be 0 or more")
	case q.Nodes > math.MaxInt32:
		return fmt.Errorf("it has %d nodes, more than %d", q.Nodes, math.MaxInt32)
	case max(j.Submit, j.Runtime, q.Length) > latest || q.Deadline > latest && q.Deadline != des.Forever:
		return fmt.Errorf("a time is beyond %v", latest)
	case min(j.User, j.Group, j.Queue) < -1:
		return fmt.Errorf("its user, group and queue must be -1 (unknown) or more")
	case slices.ContainsFunc(j.After, func(d entity.Dependency) bool { return d.Job < 0 || d.Think < 0 || d.Think > latest }):
		return fmt.Errorf("it comes after a job below 0, or thinks for a time beyond 0 to %v", latest)
	}
	return nil
}

// write appends a job: a row of CSV, or an object of JSON without what is not given.
func (w *Writer) write(j *entity.Job) (err error) {
	// In JSON a key whose value is not given is taken back; in CSV the field stays empty.
	b := w.text.Text
	for c := colID; c <= colAfter; c++ {
		if c == colAfter && !w.json && !w.After {
			if len(j.After) > 0 {
				return fmt.Errorf("it comes after others, and the file has no such column (Writer.After)")
			}
			continue
		}
		before := len(b)
		b = w.key(b, c)
		at := len(b)
		if b, err = w.value(b, c, j); err != nil {
			return err
		}
		if w.json && len(b) == at {
			b = b[:before]
		}
	}
	if w.json {
		b = append(b, '}')
	}
	w.text.Text = append(b, '\n')
	return nil
}

// key appends what stands in front of the value of a column.
func (w *Writer) key(b []byte, c column) []byte {
	switch {
	case !w.json && c == colID:
		return b
	case !w.json:
		return append(b, ',')
	case c == colID:
		b = append(b, '{')
	default:
		b = append(b, ',')
	}
	return append(append(append(b, '"'), c.String()...), `":`...)
}

// value appends what a job says in a column, nothing where it is not given.
func (w *Writer) value(b []byte, c column, j *entity.Job) ([]byte, error) {
	q := &j.Request
	switch c {
	case colID:
		return strconv.AppendInt(b, j.ID, 10), nil
	case colSubmit:
		return j.Submit.Append(b), nil
	case colNodes:
		return strconv.AppendInt(b, int64(q.Nodes), 10), nil
	case colVolume:
		return q.Length.Append(b), nil
	case colRuntime:
		return j.Runtime.Append(b), nil
	case colMinPerf, colMaxPrice, colBudget:
		if v := [...]float64{q.MinPerf, q.MaxPrice, q.Budget}[c-colMinPerf]; limited(v) {
			return appendNumber(b, v), nil
		}
	case colDeadline:
		if q.Deadline > 0 && q.Deadline < des.Forever {
			return q.Deadline.Append(b), nil
		}
	case colNeeds:
		needs, err := w.attributes(q.Needs)
		return append(b, needs...), err
	case colCriterion:
		if q.Criterion == nil {
			break
		}
		name := q.Criterion.Name()
		if !isName(name, "") {
			return nil, fmt.Errorf("criterion: the name %q is not of printable letters", name)
		}
		if w.json {
			return appendText(b, name), nil
		}
		return appendField(b, name), nil
	case colUser, colGroup, colQueue:
		if n := [...]int32{j.User, j.Group, j.Queue}[c-colUser]; n >= 0 {
			return strconv.AppendInt(b, int64(n), 10), nil
		}
	case colAfter:
		if w.json && len(j.After) > 0 {
			return append(appendAfter(append(b, '"'), j.After), '"'), nil
		}
		return appendAfter(b, j.After), nil
	}
	return b, nil
}

// attributes are needs as the format writes them, of which jobs often share the
// same; nothing where there are none.
func (w *Writer) attributes(needs *entity.Attributes) ([]byte, error) {
	if needs == nil || len(needs.Amounts)+len(needs.Labels) == 0 {
		return nil, nil
	}
	if text, ok := w.needs[needs]; ok {
		return text, nil
	}
	var text []byte
	var err error
	if w.json {
		text, err = needsObject(needs)
	} else {
		text, err = needsField(needs)
	}
	if err != nil {
		return nil, fmt.Errorf("needs: %w", err)
	}
	if len(w.needs) < kept {
		w.needs[needs] = text
	}
	return text, nil
}

// needsField is needs in a field of CSV: ram>=16;os=linux.
func needsField(needs *entity.Attributes) ([]byte, error) {
	var b []byte
	next := func() {
		if len(b) > 0 {
			b = append(b, ';')
		}
	}
	err := eachNeed(needs, func(name string, v float64) {
		next()
		b = appendNumber(append(append(b, name...), ">="...), v)
	}, func(name, label string) {
		next()
		b = append(append(append(b, name...), '='), label...)
	})
	return appendField(nil, string(b)), err
}

// needsObject is needs as an object of JSON: {"ram":16,"os":"linux"}.
func needsObject(needs *entity.Attributes) ([]byte, error) {
	var b []byte
	separator := byte('{')
	key := func(name string) {
		b = append(appendText(append(b, separator), name), ':')
		separator = ','
	}
	err := eachNeed(needs, func(name string, v float64) {
		key(name)
		b = appendNumber(b, v)
	}, func(name, label string) {
		key(name)
		b = appendText(b, label)
	})
	return append(b, '}'), err
}

// limited reports whether a number is a limit: 0 and infinity are none.
func limited(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// appendNumber appends the shortest text that is read as the same number, which
// is how JSON writes numbers.
func appendNumber(b []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

// appendField appends a field of CSV, in quotes where it must be.
func appendField(b []byte, text string) []byte {
	if !strings.ContainsAny(text, "\",") {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// appendText appends a text of JSON.
func appendText(b []byte, text string) []byte {
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text always can be
	return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

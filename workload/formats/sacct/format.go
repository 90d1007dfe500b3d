package sacct

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// Format is Slurm's accounting.
type Format struct {
	// Zone is the time zone of the cluster, in which sacct prints its times; UTC if nil.
	Zone *time.Location
}

// Name implements workload.Format.
func (Format) Name() string { return "sacct" }

// Endings implements workload.Format.
func (Format) Endings() []string { return []string{".sacct"} }

// Is reports whether the first line is a heading: JobID or JobIDRaw, and two more
// of Slurm's words, as Slurm writes them. What sacct --json prints is claimed as well, so that
// the error says what to do.
func (Format) Is(in *workload.Input) bool {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(in.Head(), []byte(byteOrderMark)), []byte{'\n'})
	if bytes.HasPrefix(bytes.TrimLeft(first, " \t"), []byte{'{'}) {
		return bytes.Contains(in.Head(), []byte(`"job_id"`)) && bytes.Contains(in.Head(), []byte(`"association"`))
	}
	if wordEnd(bytes.TrimPrefix(first, []byte{'"'})) == 0 {
		return false
	}
	// Words of letters, whatever stands between them. The case of letters counts: a table of somebody
	// else's may have columns user and state.
	job, others := false, 0
	for len(first) > 0 {
		end := wordEnd(first)
		switch word := string(first[:end]); {
		case word == "JobID" || word == "JobIDRaw":
			job = true
		case word != "" && documented[strings.ToLower(word)] == word:
			others++
		}
		first = first[max(end, 1):]
	}
	return job && others >= 2
}

// Survey reads the whole log, for the names in it, its earliest submission, its highest job number
// (above which tasks get numbers of their own), and the columns in which any record has something.
func (f Format) Survey(in *workload.Input) (*workload.Header, error) {
	r, err := f.begin(in)
	if err != nil {
		return nil, err
	}
	h := &workload.Header{}
	columns, rare := r.heading.columns()
	h.Columns = columns
	r.begin(h, workload.NewTally(in, h))
	r.surveys, r.tally.Strict = true, false // the reading tells what is damaged
	used := make([]bool, len(columns))
	var submits table.Span
	jobs := 0
	for ; r.Next(); jobs++ {
		submits.Add(r.Record().Submit)
		h.HighestJob = max(h.HighestJob, r.Record().Job)
		for i, v := range r.Record().More {
			used[i] = used[i] || v.Known()
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if report := r.Report(); jobs == 0 && report.Lines > 0 {
		return nil, fmt.Errorf("%s: none of its %d rows is a job (%v)", in.Name(), report.Lines, report.Findings()[0])
	}
	// Of the columns that a record may have, the rare ones are kept only if one has something there.
	forgetNumbers(h)
	h.Columns = nil
	for i, c := range columns {
		if used[i] || !rare[c.Name] {
			h.Columns = append(h.Columns, c)
		}
	}
	submits.Tell(h, true)
	h.Set("TimeZoneString", r.clock.zone.String())
	for n, name := range h.Names(workload.FieldPartition).All() { // a queue is its partition
		h.Names(workload.FieldQueue).Set(n, name)
	}
	return h, nil
}

// Read implements workload.Format.
func (f Format) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	r, err := f.begin(in)
	if err != nil {
		return nil, err
	}
	r.begin(h, workload.NewTally(in, h))
	return r, nil
}

// begin opens an input and reads its heading.
func (f Format) begin(in *workload.Input) (*reader, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	return newReader(in.Name(), text, f.Zone)
}

// newReader reads the heading, which is the first line that is not empty.
func newReader(name string, text io.Reader, zone *time.Location) (*reader, error) {
	r := &reader{name: name, lines: scan.NewLines(text), clock: newClock(zone)}
	for r.lines.Next() {
		line := r.lines.Text()
		if len(line) == 0 {
			continue
		}
		var err error
		if r.lines.TooLong() {
			err = fmt.Errorf("its first line is longer than %d bytes", scan.LongestLine)
		} else {
			r.heading, err = readHeading(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, r.lines.Number(), err)
		}
		return r, nil
	}
	if err := r.lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return nil, fmt.Errorf("%s: it is empty; %w", name, errNoHeading)
}

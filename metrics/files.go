package metrics

// The files of a run under their names: each is there whole or not at all.

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics/rows"
)

// JobsFile writes a file jobs-POLICY.csv. It is an Observer. The file gets its name by Commit.
type JobsFile struct {
	*JobsWriter
	path string
	file *atomicfile.Pending
}

// CreateJobs begins the file at path. Call Commit or Abort at the end.
func CreateJobs(path string) (*JobsFile, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := NewJobsWriter(f)
	w.amends = true
	return &JobsFile{JobsWriter: w, path: path, file: f}, nil
}

// TellAttempts adds the columns about attempts to all rows, as if a job had been stopped (Again).
func (f *JobsFile) TellAttempts() { f.again = true }

// Commit writes the rows that are left and gives the file its name. Where jobs
// were not submitted in the order of their ids the rows are sorted first, and where one
// was stopped (Again) those that were written before get their columns about attempts,
// which takes 16 bytes of memory a job and, for a moment, the file's size once more
// on the disk.
func (f *JobsFile) Commit() error {
	defer f.file.Abort()
	if err := f.Close(); err != nil {
		return err
	}
	if f.again {
		f.tell()
	}
	if f.ascending() && f.columns == f.Attempts {
		return f.file.Commit()
	}
	again, err := atomicfile.Create(f.path)
	if err != nil {
		return err
	}
	defer again.Abort()
	if err := f.copyTo(again); err != nil {
		return fmt.Errorf("writing %s in order of job id: %w", f.path, err)
	}
	return again.Commit()
}

// Abort removes the unfinished file. After Commit it does nothing.
func (f *JobsFile) Abort() {
	f.stop()
	f.file.Abort()
}

// rowIndex tells where the rows of a file of jobs stand.
type rowIndex struct {
	header string  // with the end of its line
	rows   []rowAt // in the order of the file
	// plain is the offset from which on rows have all columns: those before lack the columns about
	// attempts.
	plain int64
	apart map[int64][]byte // as JobsWriter.apart, by the offset of the row
}

// rowAt is the job of a row, and the offset at which the row begins.
type rowAt struct{ id, at int64 }

// index reads the file once, and finds its rows. It takes 16 bytes of memory a row.
func (f *JobsFile) index() (x rowIndex, err error) {
	x.apart = map[int64][]byte{}
	in := bufio.NewReaderSize(io.NewSectionReader(f.file, 0, 1<<62), 1<<20)
	var at int64
	for {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return x, nil
		}
		if err != nil {
			return x, err
		}
		if at == 0 {
			x.header = string(text)
		} else {
			id, err := strconv.ParseInt(string(text[:slices.Index(text, ',')]), 10, 64) // the first column
			if err != nil {
				return x, err
			}
			if told, ok := f.apart[int64(len(x.rows))]; ok {
				x.apart[at] = told
			}
			x.rows = append(x.rows, rowAt{id, at})
		}
		at += int64(len(text))
		if int64(len(x.rows)) == f.plain {
			x.plain = at
		}
	}
}

// copyTo copies the file, rows in order of job id, all of them with the columns that it is
// to have. Rows are read again one by one, so that the file need not fit into memory.
func (f *JobsFile) copyTo(to io.Writer) error {
	x, err := f.index()
	if err != nil {
		return err
	}
	slices.SortStableFunc(x.rows, func(a, b rowAt) int { return cmp.Compare(a.id, b.id) })

	out := bufio.NewWriterSize(to, 1<<16) // errors stay with out until Flush
	if f.columns != f.Attempts {
		out.WriteString(f.full.Header() + "\n")
	} else { // the file has the columns in all rows, or in none
		out.WriteString(x.header)
		x.plain = 0
	}
	none := f.ofAttempts.Append([]byte{','}, &rows.Job{}) // of a job about which there is nothing to tell
	row := make([]byte, 4096)
	for _, l := range x.rows {
		var end int
		if row, end, err = f.readRow(row, l.at); err != nil {
			return err
		}
		told, ok := x.apart[l.at]
		switch {
		case l.at >= x.plain:
			out.Write(row[:end])
		case ok:
			f.putApart(out, row[:end], told)
		default:
			f.putApart(out, row[:end], none)
		}
	}
	return out.Flush()
}

// readRow reads the row at an offset into a buffer, which grows where the row is longer. The row
// ends in front of end, with its line.
func (f *JobsFile) readRow(buffer []byte, at int64) (row []byte, end int, err error) {
	for {
		n, err := f.file.ReadAt(buffer, at)
		if end := slices.Index(buffer[:n], '\n') + 1; end > 0 {
			return buffer, end, nil
		}
		if err != nil {
			return buffer, 0, err
		}
		buffer = make([]byte, 2*len(buffer))
	}
}

// putApart writes a row that lacks the columns about attempts, with what they tell: they stand in
// front of the last f.behind columns, none of which has a comma in it.
func (f *JobsFile) putApart(out *bufio.Writer, row, told []byte) {
	split := len(row)
	for range f.behind {
		split = bytes.LastIndexByte(row[:split], ',')
	}
	out.Write(row[:split])
	out.Write(told)
	out.Write(row[split:])
}

// WriteSummaryFile writes summary.csv under the name path.
func WriteSummaryFile(path string, rows []Summary) error {
	return atomicfile.Write(path, func(w io.Writer) error { return writeSummaryCSV(w, rows) })
}

// WriteFile writes the manifest under the name path.
func (m *Manifest) WriteFile(path string) error { return atomicfile.Write(path, m.write) }

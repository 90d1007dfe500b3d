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
	file *atomicfile.File
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
	if f.Ascending() && f.columns == f.Attempts {
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

// copyTo copies the file, rows in order of job id, all of them with the columns that it is
// to have.
func (f *JobsFile) copyTo(to io.Writer) error {
	type line struct{ id, at int64 }
	var lines []line
	var at int64
	from := f.file
	in := bufio.NewReaderSize(io.NewSectionReader(from, 0, 1<<62), 1<<20)
	var header string
	plain := int64(0)           // where the rows begin that have all columns
	apart := map[int64][]byte{} // by where the row is
	for {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			break
		}
		if err != nil {
			return err
		}
		if at == 0 {
			header = string(text)
		} else {
			id, err := strconv.ParseInt(string(text[:slices.Index(text, ',')]), 10, 64)
			if err != nil {
				return err
			}
			if told, ok := f.apart[int64(len(lines))]; ok {
				apart[at] = told
			}
			lines = append(lines, line{id, at})
		}
		at += int64(len(text))
		if int64(len(lines)) == f.plain {
			plain = at
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.id, b.id) })

	out := bufio.NewWriterSize(to, 1<<16)
	put := func(row, told []byte) { // errors stay with out until Flush
		split := len(row)
		for range f.behind {
			split = bytes.LastIndexByte(row[:split], ',')
		}
		out.Write(row[:split])
		out.Write(told)
		out.Write(row[split:])
	}
	if f.columns != f.Attempts {
		out.WriteString(f.full.Header() + "\n")
	} else {
		out.WriteString(header)
		plain = 0
	}
	none := f.ofAttempts.Append([]byte{','}, &rows.Job{})
	row := make([]byte, 4096)
	for _, l := range lines {
		for {
			n, err := from.ReadAt(row, l.at)
			if end := slices.Index(row[:n], '\n'); end >= 0 {
				switch told, ok := apart[l.at]; {
				case l.at >= plain:
					out.Write(row[:end+1])
				case ok:
					put(row[:end+1], told)
				default:
					put(row[:end+1], none)
				}
				break
			}
			if err != nil {
				return err
			}
			row = make([]byte, 2*len(row))
		}
	}
	return out.Flush()
}

// WriteSummaryFile writes summary.csv under the name path.
func WriteSummaryFile(path string, rows []Summary) error {
	return atomicfile.Write(path, func(w io.Writer) error { return writeSummaryCSV(w, rows) })
}

// WriteFile writes the manifest under the name path.
func (m *Manifest) WriteFile(path string) error { return atomicfile.Write(path, m.Write) }

package metrics

// The files of a run under their names: each is there whole or not at all.

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/entity/atomicfile"
)

// JobsFile is a jobs-POLICY.csv being written. It is an Observer; Commit ends
// it.
type JobsFile struct {
	*JobsWriter
	path string
	file *atomicfile.File
}

// CreateJobs begins the file path.
func CreateJobs(path string) (*JobsFile, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	return &JobsFile{JobsWriter: NewJobsWriter(f), path: path, file: f}, nil
}

// Commit writes the rows that are left and gives the file its name. Where jobs
// were not submitted in the order of their ids the rows are sorted first, which
// takes 16 bytes of memory a job and, for a moment, the file's size once more
// on the disk.
func (f *JobsFile) Commit() error {
	defer f.file.Abort()
	if err := f.Close(); err != nil {
		return err
	}
	if f.Ascending() {
		return f.file.Commit()
	}
	sorted, err := atomicfile.Create(f.path)
	if err != nil {
		return err
	}
	defer sorted.Abort()
	if err := sortJobs(f.file, sorted); err != nil {
		return fmt.Errorf("sorting %s by job id: %w", f.path, err)
	}
	return sorted.Commit()
}

// Abort throws the file away. After Commit it does nothing.
func (f *JobsFile) Abort() { f.file.Abort() }

// sortJobs copies a jobs CSV, rows in order of job id.
func sortJobs(from io.ReaderAt, to io.Writer) error {
	type line struct{ id, at int64 }
	var lines []line
	var at int64
	in := bufio.NewReaderSize(io.NewSectionReader(from, 0, 1<<62), 1<<20)
	var header string
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
			lines = append(lines, line{id, at})
		}
		at += int64(len(text))
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.id, b.id) })

	out := bufio.NewWriterSize(to, flushAt)
	out.WriteString(header) // errors stay with out until Flush
	row := make([]byte, 4096)
	for _, l := range lines {
		for {
			n, err := from.ReadAt(row, l.at)
			if end := slices.Index(row[:n], '\n'); end >= 0 {
				out.Write(row[:end+1])
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

// QueueFile is a queue-POLICY.csv being written. It is an Observer; Commit
// ends it.
type QueueFile struct {
	*QueueWriter
	file *atomicfile.File
}

// CreateQueue begins the file path.
func CreateQueue(path string) (*QueueFile, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	return &QueueFile{NewQueueWriter(f), f}, nil
}

// Commit writes what is left and gives the file its name.
func (f *QueueFile) Commit() error {
	defer f.file.Abort()
	if err := f.Close(); err != nil {
		return err
	}
	return f.file.Commit()
}

// Abort throws the file away. After Commit it does nothing.
func (f *QueueFile) Abort() { f.file.Abort() }

// WriteSummaryFile writes summary.csv under the name path.
func WriteSummaryFile(path string, rows []Summary) error {
	return atomicfile.Write(path, func(w io.Writer) error { return WriteSummaryCSV(w, rows) })
}

// WriteFile writes the manifest under the name path.
func (m *Manifest) WriteFile(path string) error { return atomicfile.Write(path, m.Write) }

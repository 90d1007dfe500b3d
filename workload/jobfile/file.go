package jobfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/workload"
)

// Format is the syntax of a job file.
type Format uint8

const (
	CSV   Format = iota // a row a job, below a heading
	JSONL               // an object of JSON a line
)

// formats are the names, which are the endings of files, too.
var formats = enum.Of[Format]("format of a job file", "csv", "jsonl")

func (f Format) String() string { return formats.Name(f) }

// parseFormat reads "csv" or "jsonl".
func parseFormat(s string) (Format, error) { return formats.Parse(s) }

// FormatOf tells by the ending of a path whether it names a job file, and in which format: .csv or
// .jsonl, either with .gz or .zst behind it.
func FormatOf(path string) (Format, bool) {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	f, err := parseFormat(strings.TrimPrefix(filepath.Ext(path), "."))
	return f, err == nil
}

// Options say which part of a file is taken, and what names mean.
type Options struct {
	// Criterion is as in Reader.
	Criterion func(name string) (entity.Criterion, error)
	// Skip leaves out the first jobs, First takes so many after them; 0 means all.
	Skip, First int64
	// Shift moves the first submission to 0, and all others and the deadlines by
	// as much.
	Shift bool
}

// JobFile is a job file that can be read any number of times, side by side.
type JobFile struct {
	Name string // without its folders

	stored  *workload.Stored
	format  Format
	options Options
}

// Open opens a job file, whose format its ending tells; packed or not is told by
// the content. The file must not change while it is in use. What is wrong in it
// shows when it is read.
func (o Options) Open(path string) (*JobFile, error) {
	format, ok := FormatOf(path)
	if !ok {
		return nil, fmt.Errorf("%s: a job file's name ends in .csv or .jsonl, and then perhaps in .gz or .zst", path)
	}
	if o.Skip < 0 || o.First < 0 {
		return nil, errors.New("the numbers of jobs to skip and to take must not be negative")
	}
	stored, err := workload.OpenStored(path, "the job file")
	if err != nil {
		return nil, err
	}
	return &JobFile{filepath.Base(path), stored, format, o}, nil
}

// Size is the size of the file as it is stored, in bytes.
func (f *JobFile) Size() int64 { return f.stored.Size() }

// SHA256 is the checksum of the file as it is stored, in hexadecimal.
func (f *JobFile) SHA256() (string, error) { return f.stored.SHA256() }

// Open begins a new reading, from the first job.
func (f *JobFile) Open() (*Stream, error) {
	s := &Stream{options: f.options, left: math.MaxInt64, skip: f.options.Skip}
	if f.options.First > 0 {
		s.left = f.options.First
	}
	text, err := f.stored.Text(&s.read)
	if err != nil {
		return nil, err
	}
	s.text, s.Reader = text, NewReader(text, f.format)
	s.Name, s.Criterion = f.Name, f.options.Criterion
	return s, nil
}

// Stream is one reading of a file. It is an entity.Source.
type Stream struct {
	*Reader
	options    Options
	text       io.Closer    // what the stored bytes unpack to
	read       atomic.Int64 // bytes of the stored file so far
	skip, left int64        // jobs that are still to be left out, and then to be taken
	begun      bool         // a job was taken, so that origin is known
	origin     des.Time     // by how much submissions move
}

// Next is the next job of the part that is taken, or false at the end; ask Err
// then.
func (s *Stream) Next() (*entity.Job, bool) {
	for ; s.skip > 0; s.skip-- {
		if _, ok := s.Reader.Next(); !ok {
			return nil, false
		}
	}
	if s.left == 0 {
		return nil, false
	}
	s.left--
	j, ok := s.Reader.Next()
	if !ok {
		return nil, false
	}
	if s.options.Shift {
		if !s.begun {
			s.begun, s.origin = true, j.Submit
		}
		j.Submit -= s.origin
		if d := &j.Request.Deadline; *d > 0 {
			*d = max(*d-s.origin, des.Tick) // one that has passed stays one
		}
	}
	return j, true
}

// BytesRead returns how many bytes of the stored file have been read; JobFile.Size is the number of
// all. Any goroutine may call it.
func (s *Stream) BytesRead() int64 { return s.read.Load() }

// Close ends the reading.
func (s *Stream) Close() error { return s.text.Close() }

// FileWriter writes a job file that is there whole or not at all.
type FileWriter struct {
	*Writer
	file *workload.PackedFile
}

// Create begins to write path, packed where it ends in .gz or .zst. It gets its
// name only by Commit.
func Create(path string, f Format) (*FileWriter, error) {
	file, err := workload.CreatePacked(path)
	if err != nil {
		return nil, err
	}
	return &FileWriter{NewWriter(file, f), file}, nil
}

// Commit completes the file, or leaves nothing behind.
func (w *FileWriter) Commit() error {
	if err := w.Flush(); err != nil {
		w.file.Abort()
		return err
	}
	return w.file.Commit()
}

// Abort throws the file away. After Commit it does nothing.
func (w *FileWriter) Abort() { w.file.Abort() }

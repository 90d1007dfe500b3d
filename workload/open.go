package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// This file finds the text of a trace: a file or standard input, plain or
// compressed, that can be read any number of times.

// StandardInput is the path that means standard input.
const StandardInput = "-"

// Stored is the bytes of a log as they are stored. A regular file is opened anew
// for every reading; anything else (standard input, a pipe) can be read only
// once and is kept as it came.
type Stored struct {
	path string
	what string      // what it is, for messages: "the trace"
	name string      // for messages and tables: the file's, without folders
	kept io.ReaderAt // the bytes of what can be read only once; nil for a regular file
	size int64       // of the stored bytes
	time time.Time   // of the file's last change before it was first opened
}

// OpenStored returns a regular file for later reading; it does not open the file yet. what names
// the file in messages, as in "the job file". It is an error if the file does not exist or is no
// regular file. The file must not change while it is in use.
func OpenStored(path, what string) (*Stored, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w", what, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("opening %s: %s is no regular file", what, path)
	}
	return &Stored{path: path, what: what, name: filepath.Base(path), size: info.Size(), time: info.ModTime()}, nil
}

// keptInMemory is the number of bytes up to which an input that can be read only once is kept in
// memory; a longer input goes into a temporary file.
const keptInMemory = 16 << 20

// newSource finds the bytes of a path: a regular file, or standard input, a pipe and the like, which
// are read to their end at once.
func newSource(path string, stdin io.Reader) (*Stored, error) {
	if path == StandardInput {
		if stdin == nil {
			stdin = os.Stdin
		}
		s := &Stored{path: path, name: "standard input"}
		if err := s.keep(stdin, keptInMemory); err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return s, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening the trace: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("opening the trace: %s is a directory", path)
	case info.Mode().IsRegular():
		return OpenStored(path, "the trace")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	defer f.Close()
	s := &Stored{path: path, name: filepath.Base(path)}
	if err := s.keep(f, keptInMemory); err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	return s, nil
}

// keep reads r to its end: into memory, or, if it is longer than inMemory bytes, into a temporary
// file. The file has lost its name already and goes away with the process, or with the source.
func (s *Stored) keep(r io.Reader, inMemory int64) error {
	data, err := io.ReadAll(io.LimitReader(r, inMemory+1))
	if err != nil {
		return err
	}
	s.kept, s.size = bytes.NewReader(data), int64(len(data))
	if s.size <= inMemory {
		return nil
	}
	f, err := os.CreateTemp("", "gridslot-*.swf")
	if err != nil {
		return err
	}
	_ = os.Remove(f.Name()) // a system that refuses this keeps the file
	if s.size, err = io.Copy(f, io.MultiReader(bytes.NewReader(data), r)); err != nil {
		f.Close()
		return fmt.Errorf("keeping it in a temporary file (TMPDIR): %w", err)
	}
	s.kept = f
	return nil
}

// open opens the stored bytes. A file that has changed since OpenStored is an error: what an earlier
// reading has found would not hold for this one.
func (s *Stored) open() (io.ReadCloser, error) {
	if s.kept != nil {
		return io.NopCloser(io.NewSectionReader(s.kept, 0, s.size)), nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", s.what, err)
	}
	info, err := f.Stat()
	if err == nil && (info.Size() != s.size || !info.ModTime().Equal(s.time)) {
		err = fmt.Errorf("%s has changed since it was first opened", s.path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Text opens the unpacked text. Bytes of the stored form are counted in read, unless that is nil.
func (s *Stored) Text(read *atomic.Int64) (io.ReadCloser, error) {
	raw, err := s.open()
	if err != nil {
		return nil, err
	}
	var counted io.Reader = raw
	if read != nil {
		counted = &countingReader{raw, read}
	}
	text, err := Decompress(counted)
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return &stackedCloser{text, raw}, nil
}

// Size returns the number of stored (packed) bytes.
func (s *Stored) Size() int64 { return s.size }

// SHA256 is the checksum of the stored bytes, in hexadecimal.
func (s *Stored) SHA256() (string, error) {
	raw, err := s.open()
	if err != nil {
		return "", err
	}
	defer raw.Close()
	h := sha256.New()
	if _, err := io.Copy(h, raw); err != nil {
		return "", fmt.Errorf("reading %s: %w", s.name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// countingReader counts the bytes that are read through it, for progress.
type countingReader struct {
	io.Reader
	read *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// stackedCloser closes a reader and what it reads from.
type stackedCloser struct {
	io.ReadCloser
	under io.Closer
}

func (c *stackedCloser) Close() error {
	return errors.Join(c.ReadCloser.Close(), c.under.Close())
}

// Decompress unpacks gzip and zstd, which it recognises by their first bytes. Other input passes
// unchanged. Other kinds of archives are errors. Closing the result does not close r.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 128<<10)
	head, err := b.Peek(6) // as long as the longest magic below
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, kind := range []struct{ magic, name string }{
		{"BZh", "bzip2"}, {"\xFD7zXZ\x00", "xz"}, {"PK\x03\x04", "zip"}, {"\x1F\x9D", "compress (.Z)"},
	} {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return nil, fmt.Errorf("%w: it is packed by %s; unpack it first, or pack it by gzip or zstd", ErrNotSWF, kind.name)
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x1F\x8B")):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, unpackError(err)
		}
		return unpacker{z, z}, nil
	case bytes.HasPrefix(head, []byte("\x28\xB5\x2F\xFD")):
		// One goroutine, and a bound on the memory that a hostile file may ask for.
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, unpackError(err)
		}
		return unpacker{z, z.IOReadCloser()}, nil
	}
	return io.NopCloser(b), nil
}

// unpacker tells truncated and damaged archives apart from other failures.
type unpacker struct {
	io.Reader
	io.Closer
}

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = unpackError(err)
	}
	return n, err
}

// errTruncated marks a compressed file that ends too early.
var errTruncated = errors.New("the compressed file is truncated")

// unpackError says what a failure to unpack means, and what is to be done. An error of the file below
// stays as it is.
func unpackError(err error) error {
	var path *os.PathError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		return fmt.Errorf("%w: it ends in the middle; fetch it again", errTruncated)
	case errors.As(err, &path):
		return err
	}
	return errors.New("the compressed file is damaged; fetch it again")
}

// formatOf is the format of an input: the one that was asked for, or the first that
// the input looks like, or SWF.
func (how *Reading) formatOf(in *Input) Format {
	if how.Format != nil {
		return how.Format
	}
	if f := how.recognised(in); f != nil {
		return f
	}
	return SWF
}

// recognised is the first of Formats that an input looks like, or nil.
func (how *Reading) recognised(in *Input) Format {
	for _, f := range how.Formats {
		if f.Is(in) {
			return f
		}
	}
	return nil
}

// Recognise returns the first of Formats that recognises the content of a regular file, or nil.
func (how Reading) Recognise(path string) Format {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	src, err := newSource(path, nil)
	if err != nil {
		return nil
	}
	in := src.input(how, nil)
	defer in.Close()
	return how.recognised(in)
}

// Trace is a log opened for simulation: its header, what it is called,
// and its jobs, which can be read any number of times, side by side.
type Trace struct {
	Name   string  // the file's name without its folders
	Path   string  // as it was given
	Format Format  // as which it is read
	Header *Header // as its Survey has found it; nobody changes it while there are readings
	// MaxProcs is the number of processors of the machine: Options.Procs, else
	// the header's MaxProcs, else its MaxNodes, else 0. See Procs.
	MaxProcs int
	Options  Options

	source *Stored
	where  func(rec *Record, line int64) bool // of Options.Where, or nil

	load     func() (entity.OfferedLoad, error) // what its jobs offer, computed once
	modelled func() ([]des.Time, error)         // estimates, computed once

	mu   sync.Mutex // guards last
	last *JobStream // the latest reading that Jobs or Estimated began

	passed *Report // of the latest pass that Selected made; nil before
}

// OpenSWF opens an SWF file with the default options; see Options.Open.
func OpenSWF(path string) (*Trace, error) { return Options{}.Open(path) }

// ReadSWF is OpenSWF for what a reader gives, under the name that messages are to
// use. With it a program can run the sample from anywhere:
//
//	trace, err := workload.ReadSWF(traces.Sample())
//
// The content is kept, packed as it came; see Options.Open.
func ReadSWF(name string, content io.Reader) (*Trace, error) {
	t, err := Options{Reading: Reading{Stdin: content}}.Open(StandardInput)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.Name, t.Path, t.source.name = name, name, name
	return t, nil
}

// Open opens a log: plain, .gz or .zst, known by their content. Its format is Options.Format, else
// the format among Options.Formats that recognises it, else SWF. The path "-" is standard input;
// since that can be read only once, it is kept, packed as it came: up to 16 MiB in memory, more in
// a temporary file. So is any other file that is no regular one. A path's file must not change
// while the trace is in use.
//
// Of SWF only the header is read, of other formats as much as their Survey needs. What
// is wrong further on shows when the jobs are read.
func (o Options) Open(path string) (*Trace, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	src, err := newSource(path, o.Stdin)
	if err != nil {
		return nil, err
	}
	// Its format, and what that has to know before the first record. What takes a pass over the jobs (the
	// load, modelled estimates) waits until it is asked for.
	in := src.input(o.Reading, nil)
	defer in.Close()
	t := &Trace{Name: src.name, Path: path, Format: o.formatOf(in), Options: o, source: src}
	t.load = sync.OnceValues(t.measure)
	t.modelled = sync.OnceValues(t.tsafrir)
	if t.Header, err = t.Format.Survey(in); err != nil {
		return nil, err
	}
	if t.Header.Unsorted {
		t.Options.Sort = true
	}
	if o.Where != nil {
		if t.where, err = o.Where.Bind(t.Header, o.ProcsFrom); err != nil {
			return nil, err
		}
	}
	// The size of the machine. 0 is not an error yet: a trace may be read without one.
	switch of := cmp.Or(t.Header.MaxProcs, t.Header.MaxNodes); {
	case o.Procs > 0:
		t.MaxProcs = o.Procs
	case of <= maxSize:
		t.MaxProcs = int(of)
	}
	return t, nil
}

// Procs is MaxProcs, or an error that says what to give where the header does
// not tell the size of the machine, or tells two of them.
func (t *Trace) Procs() (int, error) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		sizes := t.Header.sizes(key)
		if len(sizes) > 1 && t.Options.Procs == 0 {
			return 0, fmt.Errorf("%s: its header has %s %d and %s %d: give the number of processors (--procs N)", t.Name, key, sizes[0], key, sizes[1])
		}
		if len(sizes) > 0 {
			break // MaxNodes does not count beside MaxProcs
		}
	}
	if t.MaxProcs < 1 {
		for _, key := range []string{"MaxProcs", "MaxNodes"} {
			if value := t.Header.Get(key); value != "" {
				return 0, fmt.Errorf("%s: its header's %s is %q, not a whole number of 1 to %d: give the number of processors (--procs N)", t.Name, key, value, maxSize)
			}
		}
		if t.Format != Format(SWF) {
			return 0, fmt.Errorf("%s: %s does not tell the size of the machine: give the number of processors (--procs N)", t.Name, t.Format.Name())
		}
		return 0, fmt.Errorf("%s: its header has neither MaxProcs nor MaxNodes: give the number of processors (--procs N)", t.Name)
	}
	return t.MaxProcs, nil
}

// SHA256 is the checksum of the file as it is stored, in hexadecimal. It reads
// the file.
func (t *Trace) SHA256() (string, error) { return t.source.SHA256() }

// Size is the size of the file as it is stored, in bytes.
func (t *Trace) Size() int64 { return t.source.size }

// Records reads the trace as records, without making jobs of them. Close the
// closer when done.
func (t *Trace) Records() (LogReader, io.Closer, error) { return t.records(nil) }

func (t *Trace) records(read *atomic.Int64) (LogReader, io.Closer, error) {
	in := t.source.input(t.Options.Reading, read)
	r, err := t.Format.Read(in, t.Header)
	if err != nil {
		return LogReader{}, nil, errors.Join(err, in.Close())
	}
	return LogReader{r}, in, nil
}

// Package atomicfile writes files that are there whole or not at all: the
// bytes go to a temporary name beside the target, which gets its own name only
// when everything has been written.
//
//	f, err := atomicfile.Create(path)
//	if err != nil {
//		return err
//	}
//	defer f.Abort() // does nothing after Commit
//	if _, err := f.Write(data); err != nil {
//		return err
//	}
//	return f.Commit()
//
// It guards against failures of the program and a full disk, not against a
// loss of power: files are not forced to the disk, for what a simulation
// writes can be computed again.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// File is a file being written. It is not buffered; a writer that buffers or
// compresses is put on top, and flushed or closed before Commit.
type File struct {
	path   string // as it was given, for messages
	target string // what the temporary file becomes; "" where it is written in place
	file   *os.File
	err    error // the first failure
	done   bool
}

// Create begins to write path. What stands there stays untouched until Commit.
// A symbolic link is followed. What is no regular file (a terminal, a pipe,
// /dev/null) is written in place, as it cannot be replaced.
func Create(path string) (*File, error) {
	target := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		target = resolved
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("writing %s: it is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		file, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, failure(path, err)
		}
		return &File{path: path, file: file}, nil
	}
	dir, base := filepath.Split(target)
	for {
		// Not os.CreateTemp: its files are for their owner alone, whatever the
		// user's mask says.
		name := fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, failure(path, err)
		}
		return &File{path: path, target: target, file: file}, nil
	}
}

// Write creates the file path with what write writes, whole or not at all.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// Write writes b. Once it has failed the file can only be aborted, and Commit
// returns the same error.
func (f *File) Write(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.file.Write(b)
	f.fail(err)
	return n, f.err
}

// ReadAt reads back what has been written so far. What is written in place
// cannot be read.
func (f *File) ReadAt(b []byte, offset int64) (int, error) { return f.file.ReadAt(b, offset) }

// Commit gives the file its name. Where anything has failed, now or before,
// it removes the temporary file and returns the first error.
func (f *File) Commit() error {
	if f.done {
		return f.err
	}
	f.done = true
	f.fail(f.file.Close())
	if f.target == "" {
		return f.err
	}
	if f.err == nil {
		f.fail(os.Rename(f.file.Name(), f.target))
	}
	if f.err != nil {
		os.Remove(f.file.Name())
	}
	return f.err
}

// Abort throws away what has been written. After Commit it does nothing.
func (f *File) Abort() {
	if !f.done {
		f.fail(errAborted)
		_ = f.Commit() // it fails as it is meant to
	}
}

var errAborted = errors.New("given up before it was complete")

func (f *File) fail(err error) {
	if err != nil && f.err == nil {
		f.err = failure(f.path, err)
	}
}

// failure names the file that the user asked for, not the temporary one.
func failure(path string, err error) error {
	var inPath *fs.PathError
	var inLink *os.LinkError
	switch {
	case errors.As(err, &inPath):
		err = inPath.Err
	case errors.As(err, &inLink):
		err = inLink.Err
	}
	return fmt.Errorf("writing %s: %w", path, err)
}

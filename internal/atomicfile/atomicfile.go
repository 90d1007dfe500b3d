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
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Pending is a file that is being written. It is not buffered; a writer that buffers or compresses is
// put on top, and flushed or closed before Commit.
type Pending struct {
	path string // as it was given, for messages
	// root is the folder of the file; nil if it is written in place.
	root *os.Root
	// own tells that root is closed with the file.
	own bool
	// target and temp are names in root: what the temporary file becomes, and the temporary file.
	target string
	temp   string
	file   *os.File
	err    error // the first failure
	// done tells that Commit or Abort was called.
	done bool
}

// Create begins to write path. What stands there stays untouched until Commit.
// A symbolic link is replaced, and what it leads to stays as it is: in a folder that
// others can write to it may lead anywhere. What is no regular file (a terminal, a pipe,
// /dev/null) is written in place, as it cannot be replaced.
func Create(path string) (*Pending, error) {
	dir, base := filepath.Split(path)
	switch info, err := os.Lstat(path); {
	case err == nil && info.IsDir() || base == "":
		return nil, fmt.Errorf("writing %s: it is a directory", path)
	case err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return inPlace(path)
	}
	return begin(path, dir, base)
}

// CreateNamed is Create for a file that a user names: a symbolic link is followed.
func CreateNamed(path string) (*Pending, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return inPlace(path) // such as /dev/stdout, a link to a pipe that has no name
	}
	target := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		target = resolved
	}
	f, err := Create(target)
	if f != nil {
		f.path = path
	}
	return f, err
}

// createIn is Create for a file below root, which no symbolic link on the way leads out of.
func createIn(root *os.Root, name string) (*Pending, error) {
	path := filepath.Join(root.Name(), name)
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("writing %s: it is a directory", path)
	}
	return temporary(&Pending{path: path, root: root, target: name})
}

// inPlace opens what cannot be replaced. There is no temporary file, and nothing can be taken
// back.
func inPlace(path string) (*Pending, error) {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, failure(path, err)
	}
	return &Pending{path: path, file: file}, nil
}

// begin opens the folder, so that the file and its temporary one stay in the same folder even if
// that is renamed meanwhile.
func begin(path, dir, base string) (*Pending, error) {
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if err != nil {
		return nil, failure(path, err)
	}
	f, err := temporary(&Pending{path: path, root: root, own: true, target: base})
	if err != nil {
		root.Close()
	}
	return f, err
}

// temporary begins the file under another name beside its own, which nobody else has.
func temporary(f *Pending) (*Pending, error) {
	dir, base := filepath.Split(f.target)
	for {
		// Not os.CreateTemp: its files are for their owner alone, whatever the
		// user's mask says.
		f.temp = fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		var err error
		f.file, err = f.root.OpenFile(f.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, failure(f.path, err)
		}
		return f, nil
	}
}

// Write creates the file path with what write writes, whole or not at all; see Create.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	return f.with(err, write)
}

// WriteNamed is Write for a file that a user names; see CreateNamed.
func WriteNamed(path string, write func(io.Writer) error) error {
	f, err := CreateNamed(path)
	return f.with(err, write)
}

// WriteIn is Write for a file below root; see createIn.
func WriteIn(root *os.Root, name string, write func(io.Writer) error) error {
	f, err := createIn(root, name)
	return f.with(err, write)
}

// with writes f and commits it, unless err, the error of its creation, is set.
func (f *Pending) with(err error, write func(io.Writer) error) error {
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
func (f *Pending) Write(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.file.Write(b)
	f.fail(err)
	return n, f.err
}

// ReadAt reads back what has been written so far. What is written in place
// cannot be read.
func (f *Pending) ReadAt(b []byte, offset int64) (int, error) { return f.file.ReadAt(b, offset) }

// Commit gives the file its name. If anything has failed, now or before, it removes the temporary
// file and returns the first error. A second call does nothing.
func (f *Pending) Commit() error {
	if f.done {
		return f.err
	}
	f.done = true
	f.fail(f.file.Close())
	if f.root == nil {
		return f.err
	}
	if f.err == nil {
		f.fail(f.root.Rename(f.temp, f.target))
	}
	if f.err != nil {
		_ = f.root.Remove(f.temp) // the first failure is told
	}
	if f.own {
		f.root.Close()
	}
	return f.err
}

// Abort throws away what has been written. After Commit it does nothing.
func (f *Pending) Abort() {
	if !f.done {
		f.fail(errAborted)
		_ = f.Commit() // it fails as it is meant to
	}
}

var errAborted = errors.New("given up before it was complete")

// fail keeps the first error.
func (f *Pending) fail(err error) {
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

// Same reports whether both paths lead to one regular file, which whoever reads the one must not
// write as the other. A device or a pipe, such as /dev/null, may be both.
func Same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
}

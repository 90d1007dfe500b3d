// Package outdir is the folder that a command writes its files into: made if it
// is not there, locked against a second writer, tidied up.
//
//	dir, err := outdir.Open("results", "jobs-", "queue-")    *BusyError: another process writes there
//	defer dir.Close()
//	... dir.Path ...
package outdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/gridslot/gridslot/internal/indir"
)

// LockName is the file that a writer holds locked while it writes; the number of its process stands
// in it, for messages. It goes away with the writer; one that a killed process has left is no
// obstacle, since the system lets go of its lock.
const LockName = ".gridslot.lock"

// Dir is a folder held by this process, until Close.
type Dir struct {
	Path string
	// created tells that the folder was not there before.
	created bool
	// Cleaned are the names of the temporary files of a killed process that were removed.
	Cleaned []string

	// lock is nil once the folder has been let go of.
	lock   *flock.Flock
	shared bool
}

// BusyError is a folder into which another process is writing.
type BusyError struct {
	Path    string
	Process int // 0 where it is not known
}

// Error tells who writes, and what to do.
func (e *BusyError) Error() string {
	who := "another gridslot"
	if e.Process > 0 {
		who += fmt.Sprintf(" (process %d)", e.Process)
	}
	return fmt.Sprintf("%s is writing into %s: wait until it has ended, or choose another folder (--out)", who, e.Path)
}

// Open makes the folder where it is not there and locks it. Temporary files of package atomicfile
// whose names begin like one of the prefixes, which an earlier process has left, are removed:
// others in there may be anybody's. A *BusyError tells that the folder is held.
func Open(path string, prefixes ...string) (*Dir, error) {
	return (&Dir{Path: path}).open(prefixes)
}

// Share is Open for one of several writers who do not get in each other's way: it keeps out who
// wants the folder alone, and nothing is removed.
func Share(path string) (*Dir, error) {
	return (&Dir{Path: path, shared: true}).open(nil)
}

// open takes the folder. Another process that ends may remove its lock file, or a folder that it
// made, between two steps here: then all is tried again.
func (d *Dir) open(prefixes []string) (*Dir, error) {
	path := d.Path
	_, err := os.Stat(path)
	d.created = errors.Is(err, fs.ErrNotExist)
	for tries := 0; ; tries++ {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return nil, fmt.Errorf("making the folder for the files (--out): %w", err)
		}
		switch held, err := d.take(); {
		case errors.Is(err, fs.ErrNotExist) && tries < 10: // the folder went away again
		case err != nil:
			return nil, err
		case held:
			return d, d.clean(prefixes)
		}
	}
}

// Below returns the path of a folder in the folder dir, whether it is there or not. It is an error
// where a symbolic link leads out of dir.
func Below(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", indir.Explain(root, name, err)
	}
	return filepath.Join(dir, name), nil
}

// take tries to lock the folder. held is false without an error where the lock file is another one
// by the time it is locked, since its holder has removed it at its end: the lock is one on a file
// that nobody else will find, and it has to be tried again.
func (d *Dir) take() (held bool, err error) {
	name := filepath.Join(d.Path, LockName)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return false, fmt.Errorf("locking the folder for the files (--out): %s is no regular file: remove it", name)
	}
	lock := flock.New(name)
	try := lock.TryLock
	if d.shared {
		try = lock.TryRLock
	}
	held, err = try()
	if err != nil {
		return false, fmt.Errorf("locking the folder for the files (--out): %w", err)
	}
	if !held {
		// Without the number the message only says less.
		text, _ := os.ReadFile(name)
		process, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return false, &BusyError{d.Path, process}
	}
	locked, errLocked := lock.Stat()
	named, errNamed := os.Stat(name)
	if errLocked != nil || errNamed != nil || !os.SameFile(locked, named) {
		return false, lock.Close()
	}
	d.lock = lock
	// For the messages of others only.
	_ = os.WriteFile(name, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o666)
	return true, nil
}

// temporary is the name of a file being written; see package atomicfile.
var temporary = regexp.MustCompile(`^\.(.+)\.[0-9a-f]{8}\.tmp$`)

// clean removes what a killed process has left. Nobody else writes here now. A file that cannot be
// removed stays, and is no error.
func (d *Dir) clean(prefixes []string) error {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		d.Close()
		return fmt.Errorf("looking into the folder for the files (--out): %w", err)
	}
	for _, e := range entries {
		m := temporary.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		for _, prefix := range prefixes {
			if strings.HasPrefix(m[1], prefix) {
				if os.Remove(filepath.Join(d.Path, e.Name())) == nil {
					d.Cleaned = append(d.Cleaned, e.Name())
				}
				break
			}
		}
	}
	return nil
}

// Close lets go of the folder. A folder that Open has made and that is empty goes away. Closing
// twice, or nil, is harmless.
func (d *Dir) Close() {
	if d == nil || d.lock == nil {
		return
	}
	alone := !d.shared
	if d.shared {
		alone, _ = d.lock.TryLock() // the last of several
	}
	if alone {
		os.Remove(filepath.Join(d.Path, LockName)) // while it is locked, or another's would go
	}
	_ = d.lock.Close() // nothing was written through it
	d.lock = nil
	if d.created {
		os.Remove(d.Path) // unless something stands in it
	}
}

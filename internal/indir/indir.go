// Package indir reads files of folders that others may have made, or can write to: no symbolic link
// leads out of such a folder, and no name.
//
//	f, err := indir.Open("results", "jobs-easy.csv")
//
// The folder itself may be a link, as to a file system for large files.
package indir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Open opens a file below the folder dir.
func Open(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	return f, Explain(root, name, err)
}

// ReadFile reads a file below the folder dir.
func ReadFile(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := root.ReadFile(name)
	return text, Explain(root, name, err)
}

// LinkError reports a symbolic link, or a name, that leads out of a folder.
type LinkError struct{ Path string }

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s leads out of its folder, as a symbolic link or a name with .. in it does, and is not followed: "+
		"put the file itself there", e.Path)
}

// Explain returns an error of a method of root in plainer words: a *LinkError with the link that
// leads out of the folder, if that is why, otherwise the same error with the whole path of the
// file. name is the file that was asked for.
func Explain(root *os.Root, name string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err
	}
	if !strings.Contains(at.Err.Error(), "path escapes") { // package os exports no such error
		return &fs.PathError{Op: strings.TrimSuffix(at.Op, "at"), Path: filepath.Join(root.Name(), name), Err: at.Err}
	}
	// The first part of the name that is a link, or is not there, is the one to tell.
	place := ""
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		place = filepath.Join(place, part)
		if info, err := root.Lstat(place); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			break
		}
	}
	return &LinkError{filepath.Join(root.Name(), place)}
}

package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// Build is the Basis.Build of this program: its version with the commit that it was
// built from or, where the sources were not exactly those of a commit, with the
// checksum of the program itself.
func Build(version string) (string, error) {
	commit, changed := "", true
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				changed = s.Value != "false"
			}
		}
	}
	if commit != "" && !changed {
		return version + " " + commit, nil
	}
	sum, err := programSum()
	return version + " " + sum, err
}

// programSum is the checksum of the program that this process runs.
var programSum = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program itself: %w", err)
	}
	in, err := InputFile("program", path)
	return in.Sum, err
})

// InputFile is the file at path, under that name, as an Input.
func InputFile(name, path string) (Input, error) {
	file, err := os.Open(path)
	if err != nil {
		return Input{}, err
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return Input{}, err
	}
	return Input{Name: name, Path: path, Sum: hex.EncodeToString(sum.Sum(nil)), Size: size}, nil
}

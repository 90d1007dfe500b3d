package sweep

// What the key of a unit is made of beside its parameters: the program, and files.

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Build tells which program this is: a version, the commit it was built from and,
// where that is not known or was modified, the checksum of the executable. Results
// of programs of which it differs are not mixed.
func Build(version string) string {
	parts := []string{version}
	commit, modified := "", true
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
		parts = append(parts, info.Main.Path)
	}
	if commit != "" {
		parts = append(parts, commit)
	}
	if commit == "" || modified {
		parts = append(parts, "executable "+executable())
	}
	return strings.Join(parts, " ")
}

// executable returns the checksum of this program's file.
var executable = sync.OnceValue(func() string {
	if path, err := os.Executable(); err == nil {
		if in, err := InputFile(path); err == nil {
			return in.Sum[:32]
		}
	}
	return "unknown"
})

// InputFile is the file at path as an input, under that name. What can be read once
// only, such as a pipe, is none.
func InputFile(path string) (Input, error) {
	in := Input{Name: path, Path: path}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return in, &os.PathError{Op: "open", Path: path, Err: errors.New("it is no regular file")}
	}
	file, err := os.Open(path)
	if err != nil {
		return in, err
	}
	defer file.Close()
	in.Sum, in.Size, err = sumOfAll(file)
	return in, err
}

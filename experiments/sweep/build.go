package sweep

// What the key of a unit is made of beside its parameters: the program, and files.

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Build returns which program this is, for Basis.Build: a version, the module and the commit it was
// built from and, where the commit is not known or files were modified, the checksum of the
// executable. Results of programs with different texts are not mixed: they have different keys.
func Build(version string) string {
	parts := []string{version}
	// Of a program built with no version control in reach nothing is known: as good as modified.
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

// executable returns the first half of the checksum of this program's file, or "unknown". It is
// computed once: the file may be replaced while the program runs.
var executable = sync.OnceValue(func() string {
	if path, err := os.Executable(); err == nil {
		if in, err := InputFile(path); err == nil {
			return in.Sum[:32]
		}
	}
	return "unknown"
})

// InputFile returns the file at path as an input, under that name: it reads the file whole for its
// checksum. What can be read once only, such as a pipe, is an error, as the units could not read it
// again.
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

package sweep

import (
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
	info, ok := debug.ReadBuildInfo()
	commit, modified := "", true
	if ok {
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
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	in, err := InputFile(path)
	if err != nil {
		return "unknown"
	}
	return in.Sum[:32]
})

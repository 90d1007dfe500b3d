package simulation

import (
	"runtime/debug"
	"strings"
)

// module is the path of gridslot's own module.
const module = "github.com/gridslot/gridslot"

// builtFrom returns the version of gridslot in a program, and the module of the program if gridslot
// is a library in it. A module that stands in a folder has the revision that the build knows, or no
// version but "(devel)".
func builtFrom(info *debug.BuildInfo) (version, program string) {
	own := nameOfModule(&info.Main)
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			own += " " + s.Value[:min(12, len(s.Value))]
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			own += ", modified"
		}
	}
	// gridslot among the dependencies makes it a library; otherwise the main module is gridslot
	// itself.
	for _, m := range info.Deps {
		if m.Path == module {
			_, version, _ = strings.Cut(nameOfModule(m), " ")
			return version, own
		}
	}
	_, version, _ = strings.Cut(own, " ")
	return version, ""
}

// nameOfModule returns the path and the version of a module, and what stands in its place.
func nameOfModule(m *debug.Module) string {
	name := m.Path + " " + m.Version
	if m.Replace != nil {
		name += " => " + strings.TrimSpace(m.Replace.Path+" "+m.Replace.Version)
	}
	return name
}

// versions returns builtFrom of the running program. given, if it is not empty, is what the program
// says of gridslot's version itself.
func versions(given string) (version, program string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		version, program = builtFrom(info)
	}
	if given != "" {
		version = given
	}
	return version, program
}

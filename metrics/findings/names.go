package findings

// What people are told in place of values.

import (
	"path/filepath"
	"regexp"
	"strings"
)

// pathForm is a part of a value that may be a path: what stands between the signs that separate
// parameters.
var pathForm = regexp.MustCompile(`[^:=,;\s<>()*+]+`)

// Told returns the text that people see for a value of a parameter: its label, if it has one
// (Options.Labels), else the value with the base names of the logs and files in it. If two values
// of the parameter would get the same text, as a/log.swf and b/log.swf, all keep their paths.
func (f *Findings) Told(name, value string) string {
	if label, ok := f.label(value); ok {
		return label
	}
	p := Param{name, value}
	if told, ok := f.names[p]; ok {
		return told
	}
	values := []string{value}
	if at, err := f.positions([]string{name}); err == nil {
		values = f.Results.ValuesOf(at[0])
	}
	known := map[string]bool{}
	for _, v := range values {
		known[baseNames(v)] = true
	}
	told := value
	if len(known) == len(values) {
		told = baseNames(value)
	}
	if f.names == nil {
		f.names = map[Param]string{}
	}
	f.names[p] = told
	return told
}

// told returns a value behind the name of its parameter. A label stands for itself.
func (f *Findings) told(name, value string) string {
	if label, ok := f.label(value); ok {
		return label
	}
	return name + " " + f.Told(name, value)
}

// label returns the label of a value. A file may be labelled under its base name.
func (f *Findings) label(value string) (string, bool) {
	label, ok := f.Options.Labels[value]
	if !ok {
		label, ok = f.Options.Labels[baseNames(value)]
	}
	return label, ok
}

// baseNames returns a value in which files have no folders, and logs no endings.
func baseNames(value string) string {
	return pathForm.ReplaceAllStringFunc(value, func(part string) string {
		base := filepath.Base(part)
		if strings.Contains(part, "/") && !strings.Contains(strings.Trim(base, "."), ".") {
			return part // no file: files of logs and of results have an ending
		}
		return strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".swf")
	})
}

// Package yamlfile reads settings written in YAML.
package yamlfile

import (
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
)

// Decode reads one YAML document; unknown and repeated keys are errors, and so
// is an empty file (io.EOF). The decoder panics on some input, such as a list
// that is longer than the array it goes into; that is an error here.
func Decode(r io.Reader, into any) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the YAML does not have the form it should, perhaps a list that is too long (%v)", fault)
		}
	}()
	return yaml.NewDecoder(r, yaml.Strict()).Decode(into)
}

// The embedded sample trace.

package traces

import (
	_ "embed" // the sample
	"io"
	"strings"
)

// SampleName is the file name of the sample trace.
const SampleName = "sample.swf.gz"

//go:generate go run ./internal/mksample sample.swf.gz

//go:embed sample.swf.gz
var sample string // a string, so that nothing can write to it

// Sample returns the sample trace's name and its content, an SWF file packed
// with gzip: 5,000 jobs on 128 processors over about two months, by the
// Lublin-Feitelson model with estimates by Tsafrir, Etsion and Feitelson. Its
// load is below what FCFS can carry, yet high enough that FCFS waits ten times
// as long as the backfilling policies, and these differ. Every call returns a reader of its
// own, at the beginning.
func Sample() (name string, content io.Reader) {
	return SampleName, strings.NewReader(sample)
}

// The embedded sample trace.

package traces

import (
	_ "embed" // the sample
	"io"
	"strings"
)

// sampleName is the file name of the sample trace.
const sampleName = "sample.swf.gz"

//go:generate go run ./internal/mksample sample.swf.gz

//go:embed sample.swf.gz
var sample string // a string, so that nothing can write to it

// Sample returns the sample trace's name and its content, an SWF file packed
// with gzip: 5,000 jobs of 40 users in six groups on 128 processors, over 25 days
// from a Monday on, by the Lublin-Feitelson model with its daily cycle, and
// estimates by Tsafrir, Etsion and Feitelson. Its load of 0.7 is one that FCFS can
// carry, but with waits five times as long as the backfilling policies'. Users'
// sessions stand in fields 17 and 18. Every call returns a reader of its own, at
// the beginning.
func Sample() (name string, content io.Reader) {
	return sampleName, strings.NewReader(sample)
}

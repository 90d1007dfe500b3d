package study

import (
	"strings"
	"testing"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// Whatever stands in it, a study is read and planned, or refused; the errors of its
// text tell the place.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"traces: [\"lublin:jobs=10\"]\npolicies: [easy, \"easy:depth={k}\"]\nk: [1, 5]\nseeds: [1, 2]\n",
		"zip: {load: [0.7, 0.9], procs: [4, 8]}\nexcept: [{load: 0.7}]\nonly: {policy: easy}\n",
		"sample: {size: 3, method: random, seed: 2, of: {load: {from: 1, to: 2, scale: log}, estimates: [user, exact]}}\n",
		"keep: all\nlimit: {time: 10m, memory: 4GiB, tries: 3}\nreplications: 3\nbatches: week\nwarmup: mser\nbaseline: {policy: easy}\n",
		"load: &a [0.7]\nestimates: *a\n", "? a\n: b\n", "policies: !!str [x]\n", "{", "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read(sweep.Portable{Name: "study.yaml", Text: []byte(text), Dir: "nowhere"}, nil)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "reading the study study.yaml: ") {
				t.Fatal(err)
			}
			return
		}
		cells := 1
		for _, a := range s.axes {
			if cells *= len(a.points); cells > 20 {
				return // it is only slow
			}
		}
		_ = s.check()
	})
}

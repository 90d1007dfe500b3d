package simulation

// What the statistics of a run are about: which slowdown, and which jobs.

import "github.com/gridslot/gridslot/metrics"

// warmupName is that of the setting, and of the key of a study that says what is left out
// of batches.
const warmupName = "warmup"

// parseTau reads the bound of bounded slowdowns, a time above 0; of an empty text, or of
// what that stands for, it is the zero value.
func parseTau(text string) (metrics.Tau, error) {
	if text == "" {
		return 0, nil
	}
	t, err := metrics.ParseTau(text)
	if t.String() == metrics.Tau(0).String() {
		t = 0
	}
	return t, err
}

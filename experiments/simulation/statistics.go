package simulation

// What the statistics of a run are about: which slowdown, and which jobs.

import "github.com/gridslot/gridslot/metrics"

// warmupName is the name of the setting, and of the key of a study that says what is left out of
// batches.
const warmupName = "warmup"

// parseTau reads the bound of bounded slowdowns, a time above 0. An empty text, and the default
// itself, are the zero value: manifests of both are the same.
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

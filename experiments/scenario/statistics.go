package scenario

// What the statistics of a run are about: which slowdown, and which jobs.

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/findings"
)

var tauSetting = setting{
	"tau", "settings", func(sc *Scenario) string {
		if sc.Settings.Tau == 0 {
			return ""
		}
		return sc.Settings.Tau.String()
	},
	func(sc *Scenario, text string) (err error) {
		sc.Settings.Tau, err = ParseTau(text)
		return err
	},
}

// warmupName is that of the setting, and of the key of a study that says what is left out
// of batches.
const warmupName = "warmup"

var warmupSetting = setting{
	warmupName, "settings", func(sc *Scenario) string { return sc.Settings.Warmup.String() },
	func(sc *Scenario, text string) (err error) {
		sc.Settings.Warmup, err = ParseWarmup(text)
		return err
	},
}

// ParseTau reads the bound of bounded slowdowns, a time above 0; of an empty text, or of
// what that stands for, it is the zero value.
func ParseTau(text string) (metrics.Tau, error) {
	if text == "" {
		return 0, nil
	}
	t, err := metrics.ParseTau(text)
	if t.String() == metrics.Tau(0).String() {
		t = 0
	}
	return t, err
}

// ParseWarmup reads what at the beginning of a run its summary leaves out: "5000" or
// "jobs=5000", or a time such as "7d"; of an empty text, nothing.
func ParseWarmup(text string) (metrics.Warmup, error) {
	jobs := text
	if text != "" && strings.Trim(text, "0123456789") == "" {
		jobs = "jobs=" + text
	}
	w, err := findings.ParseWarmup(jobs)
	if err != nil || w.MSER {
		return metrics.Warmup{}, fmt.Errorf("want how many jobs, as in 5000 or jobs=5000, or a time such as 7d, not %q", text)
	}
	return metrics.Warmup{Jobs: w.Jobs, Until: w.Until}, nil
}

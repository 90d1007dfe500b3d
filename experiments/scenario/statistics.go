package scenario

// What the statistics of a run are about: which slowdown, and which jobs.

import "github.com/gridslot/gridslot/metrics"

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
		sc.Settings.Warmup, err = metrics.ParseWarmup(text)
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

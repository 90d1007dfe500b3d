package simulation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics"
)

func TestTausAndWarmUpsAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{"": "", "10": "", "10s": "", "1m": "60", "0.5": "0.5"} {
		sc := New()
		require.NoError(t, sc.Set("tau", text))
		require.Equal(t, want, sc.Values()["tau"])
	}
	for text, want := range map[string]metrics.Warmup{
		"": {}, "none": {}, "0": {}, "5000": {Jobs: 5000}, "jobs=5000": {Jobs: 5000}, "5000s": {Until: 5000 * des.Second}, "7d": {Until: 7 * des.Day},
	} {
		sc, again := New(), New()
		require.NoError(t, sc.Set("warmup", text))
		require.Equal(t, want, sc.Settings.Warmup, text)
		require.NoError(t, again.Set("warmup", sc.Values()["warmup"]))
		require.Equal(t, want, again.Settings.Warmup, text)
	}
	for name, texts := range map[string][]string{"tau": {"0", "-1", "x"}, "warmup": {"mser", "jobs=x", "-5", "long", "99999999999999999999"}} {
		for _, text := range texts {
			require.ErrorContains(t, New().Set(name, text), name+": want", text)
		}
	}
}

func TestAWarmUpMustLeaveJobs(t *testing.T) {
	run := func(warmup string) (*Outcome, error) {
		sc := New()
		sc.Policies = []string{"easy"}
		sc.Workload.Options.First = 50
		require.NoError(t, sc.Set("warmup", warmup))
		return Run(context.Background(), sc, Options{})
	}
	out, err := run("49")
	require.NoError(t, err)
	require.Equal(t, 1, out.Results[0].Summary.Jobs)
	for text, want := range map[string]string{"50": "the warm-up, jobs=50, leaves no job", "1000d": "the warm-up, 86400000s, leaves no job"} {
		_, err := run(text)
		require.ErrorContains(t, err, want)
	}
}

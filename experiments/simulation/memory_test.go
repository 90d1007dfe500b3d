package simulation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/hostmem"
)

// weigher takes down what is in use while the first jobs of a run come and go.
type weigher struct {
	events int
	most   uint64
}

func (w *weigher) Observe(entity.JobEvent) {
	if w.events++; w.events > 6 {
		return
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.most = max(w.most, m.HeapAlloc)
}

// weighed runs a scenario, one policy at a time, and returns what it had in memory and what
// it was estimated to need.
func weighed(t *testing.T, text string) (had, estimated float64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	sc, err := Read(path, Standard())
	require.NoError(t, err)
	w := &weigher{}
	_, err = Run(context.Background(), sc, Options{Workers: 1, Observers: func(string, string) []entity.Observer { return []entity.Observer{w} }})
	require.NoError(t, err)
	_, err = Run(context.Background(), sc, Options{Workers: 1, Memory: 1})
	var large *hostmem.TooMuchError
	require.ErrorAs(t, err, &large)
	return float64(w.most), large.Bytes
}

func TestTheEstimateIsNearTheTruth(t *testing.T) {
	few := "batches: {cycles: 1, jobs: 2}\npolicies: [easy]\ncycle: 600\n"
	for _, c := range []struct {
		text string
		n    int
	}{
		{few + "generate: {count: %d}\n", 50_000},
		{few + "generate: {count: %d, owners: 30}\n", 50_000},
		{few + "generate: {count: %d}\nlocal: {cycles: 2}\n", 20_000},
		{few + "generate: {count: 4, owners: 2}\nlocal: {queue: {gap: 10, until: %d}}\n", 500_000},
		{"generate: {count: 4}\nbatches: {cycles: %d, jobs: 5}\npolicies: [css]\ncycle: 600\n", 4_000},
		{few + "generate: {count: %d}\nflows: {outages: 'exponential:mtbf=9000d:repair=1h'}\n", 50_000},
	} {
		little, _ := weighed(t, fmt.Sprintf(c.text, 4))
		had, estimated := weighed(t, fmt.Sprintf(c.text, c.n))
		had -= little
		t.Logf("%s: %.1f MB, estimated %.1f MB", c.text, had/1e6, estimated/1e6)
		require.Greater(t, estimated, had/1.6, c.text)
		require.Less(t, estimated, had*1.6, c.text)
	}
}

func TestWhatNeedsTooMuchIsRefusedBeforeItIsDrawn(t *testing.T) {
	for text, want := range map[string]string{
		"generate: {count: 1000000000}\ncycle: 600\nbatches: {jobs: 5}\n":                                             "most of it for 1000000000 nodes",
		"generate: {count: 10}\ncycle: 600\nbatches: {jobs: 1000000000}\n":                                            "most of it for 1000000000 jobs of batches",
		"generate: {count: 10}\ncycle: 600\nbatches: {cycles: 1000000000}\n":                                          "most of it for 20000000000 jobs of batches",
		"generate: {count: 10}\ncycle: 1e10\nlocal: {cycles: 1}\nbatches: {jobs: 5}\n":                                "jobs of owners in a cycle",
		"generate: {count: 10, owners: 2}\ncycle: 600\nlocal: {queue: {gap: 0.00001, until: 2e5}}\nbatches: {}\n":     "jobs of owners",
		"union: [{generate: {count: 2000000000}}, {generate: {count: 3}}]\ncycle: 600\nbatches: {}\n":                 "most of it for 2000000000 nodes",
		"domains: [{generate: {count: 2000000000}}]\ncycle: 600\nbatches: {}\n":                                       "most of it for 2000000000 nodes",
		"processors: 2147483647\nflows: {outages: 'exponential:mtbf=1d:repair=1h'}\n":                                 "2147483647 processors or nodes that fail",
		"processors: 64\nflows: {outages: 'exponential:mtbf=1d:repair=1h:crews=2000000000'}\n":                        "2000000000 crews",
		"clusters: [{processors: 2147483647}]\nflows: {outages: 'weibull:mtbf=1d:repair=1h:shape=0.7'}\nbrokers: 1\n": "2147483647 processors or nodes that fail",
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		sc, err := Read(path, Standard())
		require.NoError(t, err, text)
		_, err = Run(context.Background(), sc, Options{Memory: 20e9, Workers: 2})
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "memory would be needed", text)
	}
}

func TestThereAreNotMoreBrokersThanCanBeMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte("clusters: [{processors: 4}]\nbrokers: 1000000000\n"), 0o666))
	_, err := Read(path, Standard())
	require.ErrorContains(t, err, "line 2, column 10: brokers: want 1000000 or fewer, not 1000000000")
}

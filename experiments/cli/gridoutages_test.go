package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAGridsRunWithOutagesIsValid(t *testing.T) {
	const sample = "../../traces/sample.swf.gz"
	sites := write(t, "sites.yaml", `clusters:
  - {name: north, processors: 64}
  - {name: south, processors: 64, speed: 1.5, policy: conservative}
domains:
  - {name: east, cycle: 600, generate: {count: 20}}
brokers: 2
`)
	for _, victims := range []string{"requeue:restart=60s:limit=2", "kill", "checkpoint:interval=30m:cost=60s"} {
		for _, strategy := range []string{"dispatch:by=least-work", "rla", "oar"} {
			out := t.TempDir()
			got := call("simulate", sample, "--grid", sites, "--first", "400", "--policy", strategy, "--out", out,
				"--outages", "exponential:mtbf=5d:repair=4h", "--victims", victims)
			require.Zero(t, got.code, got.stderr)
			file := "jobs-" + strings.ReplaceAll(strategy, ":", "-")
			require.Contains(t, read(t, out, file+"-north.csv"), ",restarts,lost,overhead,")
			got = succeed(t, "validate", filepath.Join(out, file+".csv"), sample, "--first", "400", "--grid", sites)
		}
	}
}

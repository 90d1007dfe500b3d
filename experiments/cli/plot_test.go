package cli

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

func TestPlotDrawsWhatAFolderHasDataFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	require.Zero(t, call("simulate", write(t, "log.swf", smallTrace), "--policy", "fcfs,easy", "--out", dir).code)
	got := succeed(t, "plot", dir)
	var want []string
	for _, name := range []string{"utilization", "queue", "demand", "policies", "distributions", "wait-by-size", "wait-by-estimate", "estimates"} {
		want = append(want, filepath.Join(dir, "figures", name+".svg"))
	}
	require.Equal(t, strings.Join(want, "\n")+"\n", got.stdout)
	for _, path := range want {
		text, err := os.Open(path)
		require.NoError(t, err)
		defer text.Close()
		for in := xml.NewDecoder(text); ; {
			_, err := in.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, path)
		}
	}

	one := filepath.Join(t.TempDir(), "one")
	require.Zero(t, call("plot", dir, "policies", "policy=easy", "-o", one).code)
	text, err := os.ReadFile(filepath.Join(one, "policies.svg"))
	require.NoError(t, err)
	require.Contains(t, string(text), ">easy<")
	require.NotContains(t, string(text), ">fcfs<")

	other := filepath.Join(t.TempDir(), "paper", "figures")
	require.Zero(t, call("plot", dir, "policies", "queue", "--format", "pdf", "-o", other).code)
	require.Equal(t, []string{"policies.pdf", "queue.pdf"}, files(t, other))
}

func TestPlotSaysWhatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	require.Zero(t, call("simulate", write(t, "log.swf", smallTrace), "--policy", "easy", "--out", dir).code)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{dir, "pie"}, 2, `figure "pie": want utilization, queue`},
		{[]string{dir, "policy=sjf"}, 1, `no run of "sjf": there are easy`},
		{[]string{dir, "load=0.7"}, 2, `parameter "load": want policy`},
		{[]string{dir, "queue", "prices"}, 1, "prices cannot be drawn: there is no prices-POLICY.csv"},
		{[]string{t.TempDir()}, 1, "holds no results: there is no manifest.json"},
		{[]string{filepath.Join(dir, "none")}, 1, "none: there is no such folder"},
		{[]string{filepath.Join(dir, "summary.csv")}, 1, "is a file: give the folder of the results"},
		{[]string{dir, "--format", "gif"}, 2, "svg"},
		{nil, 2, "DIR [FIGURE...]"},
	} {
		got := call(append([]string{"plot"}, c.args...)...)
		require.Equal(t, c.code, got.code, c.args)
		require.Contains(t, got.stderr, c.want)
		require.NoDirExists(t, filepath.Join(dir, "figures"))
	}
}

// What is read back gives the summary again, which the simulation has summed up
// itself.
func TestResultsReadBackAgreeWithTheSummary(t *testing.T) {
	domain := write(t, "domain.yaml", "generate: {count: 12, owners: 3}\npricing: {rules: [{use: {target: 0.6}}]}\ncycle: 600\nbatches: {cycles: 4, jobs: 20}\npolicies: [easy, batch-slicer]\n")
	grid := write(t, "grid.yaml", "domains:\n  - {name: a, generate: {count: 20}}\n  - {name: b, generate: {count: 20}}\ncycle: 600\ninterval: 1800\nbatches: {cycles: 2, jobs: 20}\nstrategies: [cheapest, earliest]\n")
	for kind, args := range map[string][]string{
		"cluster": {"--policy", "fcfs,easy,conservative", "--first", "2000"},
		"domain":  {"--domain", domain},
		"grid":    {"--grid", grid},
	} {
		dir := ran(t, args...)
		folder, err := results.Open(dir)
		require.NoError(t, err)
		require.Equal(t, kind, folder.Machine())
		for _, run := range folder.Runs {
			jobs, err := run.Jobs()
			require.NoError(t, err)
			require.EqualValues(t, run.Summary("jobs"), len(jobs))
			var n, wait, turnaround, slowdown float64
			rejected := 0
			for i := range jobs {
				j := &jobs[i]
				if j.State == rows.Rejected {
					rejected++
				}
				if j.Ran() {
					n++
					wait += j.Wait().Seconds()
					turnaround += j.Turnaround().Seconds()
					slowdown += j.BoundedSlowdown
				}
			}
			require.EqualValues(t, run.Summary("rejected"), rejected)
			require.InEpsilon(t, 1+run.Summary("mean_wait"), 1+wait/n, 1e-9, run.Policy)
			require.InEpsilon(t, run.Summary("mean_turnaround"), turnaround/n, 1e-9)
			require.InEpsilon(t, run.Summary("mean_bounded_slowdown"), slowdown/n, 1e-6)
			size, err := run.Processors()
			require.NoError(t, err)
			switch kind {
			case "domain":
				require.Equal(t, 12, size)
			case "cluster":
				require.Equal(t, 128, size) // the sample
			case "grid":
				require.Zero(t, size) // it has no queue-POLICY.csv
				require.Len(t, run.Sites, 2)
			}
		}
	}
}

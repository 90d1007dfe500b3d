package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// alternativesOf simulates with --alternatives, and gives the runs.
func alternativesOf(t *testing.T, args ...string) (runs []*results.Run) {
	out := ran(t, append([]string{"--alternatives"}, args...)...)
	f, err := results.Open(out)
	require.NoError(t, err)
	return f.Runs
}

// Two nodes, and two jobs of which each finds two windows: 40 and 60 time units of
// work on a slow and cheap node, or half of that on a fast and dear one.
func TestAlternativesOfASmallBatchAreThoseThatCanBeSeen(t *testing.T) {
	d := domainOf(t, "nodes: nodes.csv\ncycle: 100\ntrace: {free: true}\n", "nodes.csv", "id,performance,price\n1,1,1\n2,2,3\n")
	trace := write(t, "two.swf", swf("0 40 1 40", "0 60 1 60"))
	run := alternativesOf(t, trace, "--domain", d, "--policy", "css:rounds=2:problem=owners-profit")[0]
	windows, err := run.Windows()
	require.NoError(t, err)
	row := func(job int64, number int, node int64, start, end des.Time, cost float64, chosen bool) rows.WindowTask {
		return rows.WindowTask{Job: job, Alternative: number, Node: node, Start: start * des.Second, End: end * des.Second, Cost: cost, Chosen: chosen}
	}
	require.Equal(t, []rows.WindowTask{
		row(1, 1, 1, 0, 40, 40, false),
		row(1, 2, 2, 30, 50, 60, true),
		row(2, 1, 2, 0, 30, 90, true),
		row(2, 2, 1, 40, 100, 60, false),
	}, windows)
}

func TestWhatWasChosenIsWhatTheJobThenHad(t *testing.T) {
	const domain = "generate: {count: 24}\ncycle: 600\nlocal: {level: [0, 2], cycles: 4}\nbatches: {cycles: 4, jobs: 14, real: [0.2, 1], users: 3}\ncriteria: [min-start, min-cost]\n"
	for _, policy := range []string{
		"css", "css:rounds=2:shift=slice:problem=users-expense", "batch-slicer:k=3:shift=end", "batch-slicer:k=2:by=nodes:front=9", "bsf:k=2:q=0.6",
		"css:replan=on-release", "batch-slicer:k=2:replan=every-cycle:shift=slice",
	} {
		run := alternativesOf(t, "--domain", domainOf(t, domain), "--policy", policy)[0]
		windows, err := run.Windows()
		require.NoError(t, err)
		tasks, err := run.Tasks()
		require.NoError(t, err)
		jobs, err := run.Jobs()
		require.NoError(t, err)

		type task struct{ job, node int64 }
		type span struct {
			start, end des.Time
			cost       float64
		}
		had := map[task]span{}
		for _, k := range tasks {
			if k.Kind == "job" {
				had[task{k.Job, k.Node}] = span{k.Start, k.ReservedEnd, k.Cost}
			}
		}
		last := map[int64]des.Time{} // when a job was planned last with success
		for _, w := range windows {
			if w.Chosen {
				last[w.Job] = w.PlannedAt
			}
		}
		chosen, others := map[int64]int{}, 0
		for _, w := range windows {
			if !w.Chosen {
				others++
			} else if w.PlannedAt == last[w.Job] {
				chosen[w.Job]++
				require.Equal(t, had[task{w.Job, w.Node}], span{w.Start, w.End, w.Cost}, "%s: job %d, node %d", policy, w.Job, w.Node)
			}
		}
		require.Greater(t, others, 0, policy)
		planned := 0
		for _, j := range jobs {
			require.Zero(t, j.Restarts)
			if n := chosen[j.ID]; n > 0 {
				planned++
				require.Equal(t, j.Processors, n, "%s: job %d", policy, j.ID)
			} else if j.Ran() {
				require.Contains(t, policy, "bsf", "%s: job %d ran without having been chosen", policy, j.ID)
			}
		}
		require.Greater(t, planned, 10, policy)
	}
}

func TestAlternativesAreWrittenWhereTheyAreAskedForAlone(t *testing.T) {
	d := domainOf(t, "generate: {count: 24}\ncycle: 600\nbatches: {cycles: 2, jobs: 6}\n")
	out := t.TempDir()
	args := []string{"simulate", "--domain", d, "--policy", "css,easy", "--out", out}
	require.Zero(t, call(append(args, "--alternatives")...).code)
	with := schedules(t, out)
	require.Contains(t, files(t, out), "alternatives-css.csv")
	require.NotContains(t, files(t, out), "alternatives-easy.csv")
	require.Zero(t, call(args...).code)
	require.NotContains(t, files(t, out), "alternatives-css.csv", "what an earlier run has left goes")
	require.Equal(t, with, schedules(t, out))

	got := exits(t, exitUsage, "simulate", "--domain", d, "--alternatives")
	require.Contains(t, got.stderr, "--alternatives writes files")
	got = exits(t, exitUsage, "simulate", "--policy", "easy", "--first", "50", "--alternatives", "--out", out)
	require.Contains(t, got.stderr, "for the batches of a domain alone")
}

func TestOfABatchThatIsPutOffNothingIsChosen(t *testing.T) {
	d := domainOf(t, "generate: {count: 24}\ncycle: 600\nbatches: {cycles: 1, jobs: 6}\n")
	rows, err := alternativesOf(t, "--domain", d, "--policy", "css:max-time=1")[0].Windows()
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	require.Equal(t, 1, rows[0].Alternative)
	for _, row := range rows {
		require.False(t, row.Chosen)
	}
}

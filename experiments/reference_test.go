package experiments_test

// Published schedules, met start for start. The data lie outside the project;
// GRIDSLOT_REFERENCE and GRIDSLOT_TRACES say where.

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// dataDir is the folder that an environment variable names; without it the
// test is skipped.
func dataDir(t *testing.T, variable string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("%s is not set: no published schedules at hand", variable)
	}
	return dir
}

// starts records when each job started, by job id.
type starts map[int64]des.Time

func (s starts) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		s[e.Run.ID] = e.Time
	}
}

// simulate runs a trace under the policy of that spec and returns the starts.
func simulate(t *testing.T, path string, o workload.Options, spec string, pass entity.Pass) (starts, metrics.Summary) {
	t.Helper()
	trace, err := o.Open(path)
	require.NoError(t, err)
	jobs, err := trace.Open()
	require.NoError(t, err)
	p, err := policy.Registry().Parse(spec)
	require.NoError(t, err)
	at := starts{}
	r, err := simulation.Simulate(context.Background(), jobs, simulation.RunSettings{
		Policy: p.Value, Processors: trace.MaxProcs, Pass: pass, Observers: []entity.Observer{at},
	})
	require.NoError(t, err)
	return at, r.Summary
}

// readTable reads a compressed CSV file of whole numbers, by column.
func readTable(t *testing.T, path string) map[string][]int64 {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	text, err := workload.Decompress(f)
	require.NoError(t, err)
	rows, err := csv.NewReader(text).ReadAll()
	require.NoError(t, err)
	table := map[string][]int64{}
	for _, row := range rows[1:] {
		for c, name := range rows[0] {
			v, err := strconv.ParseInt(row[c], 10, 64)
			require.NoError(t, err)
			table[name] = append(table[name], v)
		}
	}
	require.NotEmpty(t, table)
	return table
}

// requireStarts checks that every job of the table, and no other, started when
// the table says, in seconds.
func requireStarts(t *testing.T, got starts, ids, want []int64) {
	t.Helper()
	require.Len(t, got, len(ids))
	wrong := 0
	for i, id := range ids {
		if at, ok := got[id]; !ok || at != des.Time(want[i])*des.Second {
			if wrong++; wrong <= 3 {
				t.Errorf("job %d started at %v, want %d", id, at, want[i])
			}
		}
	}
	require.Zero(t, wrong, "jobs that started at another time")
}

func TestSchedulesArePublishedOnesStartForStart(t *testing.T) {
	dir := dataDir(t, "GRIDSLOT_REFERENCE")
	for _, c := range []struct {
		file, policy string
		pass         entity.Pass
	}{
		{"pyss-INPUT-fcfs", "fcfs", entity.PassEvent},
		{"pyss-INPUT-easy", "easy", entity.PassEvent},
		{"pyss-INPUT-cons", "conservative", entity.PassEvent},
		{"refpy-INPUT-cons-nocompress", "conservative:compression=off", entity.PassEvent},
		{"refpy-INPUT-easy-batched", "easy", entity.PassInstant},
		{"refpy-INPUT-cons-batched", "conservative", entity.PassInstant},
	} {
		for _, input := range []string{"sdsc-sp2-5k", "hpc2n-3k"} {
			name := strings.Replace(c.file, "INPUT", input, 1)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				want := readTable(t, filepath.Join(dir, "waits", name+".csv.gz"))
				got, _ := simulate(t, filepath.Join(dir, "inputs", input+".swf.gz"), workload.Options{}, c.policy, c.pass)
				requireStarts(t, got, want["job_id"], want["start"])
			})
		}
	}
}

func TestWaitsArePublishedOnesJobForJob(t *testing.T) {
	reference, traces := dataDir(t, "GRIDSLOT_REFERENCE"), dataDir(t, "GRIDSLOT_TRACES")
	for _, log := range []string{"KTH-SP2-1996-2", "SDSC-BLUE-2000-4.2-cln"} {
		want := readTable(t, filepath.Join(reference, "waits", log+".waits.csv.gz"))
		path := filepath.Join(traces, log+".recon.swf.gz")
		submit := map[int64]int64{}
		trace, err := workload.OpenSWF(path)
		require.NoError(t, err)
		for j := range trace.Jobs() {
			submit[j.ID] = int64(j.Submit / des.Second)
		}
		require.NoError(t, trace.Err())
		for _, c := range []struct {
			column, policy string
			estimates      workload.EstimatesKind
		}{
			{"wait_easy", "easy", workload.EstimatesUser},
			{"wait_easy_clairvoyant", "easy", workload.EstimatesExact},
			{"wait_sjbf_clairvoyant", "easy-sjbf", workload.EstimatesExact},
		} {
			t.Run(log+"/"+c.column, func(t *testing.T) {
				t.Parallel()
				begin := make([]int64, len(want["job"]))
				for i, id := range want["job"] {
					begin[i] = submit[id] + want[c.column][i]
				}
				o := workload.Options{Conventions: workload.Conventions{Estimates: workload.Estimates{Kind: c.estimates}}}
				got, _ := simulate(t, path, o, c.policy, entity.PassEvent)
				requireStarts(t, got, want["job"], begin)
			})
		}
	}
}

func TestMeansArePublishedOnes(t *testing.T) {
	dir := dataDir(t, "GRIDSLOT_REFERENCE")
	for _, c := range []struct {
		input    string
		first    int64
		jobs     int
		wait     [3]float64 // FCFS, EASY, conservative; to a tenth of a second
		slowdown [3]float64 // to a thousandth
	}{
		{"kth-sp2", 0, 28481, [3]float64{354002.3, 6889.9, 7340.6}, [3]float64{6818.585, 92.677, 88.895}},
		{"sdsc-sp2-5k", 0, 4606, [3]float64{15581.5, 3641.4, 3810.2}, [3]float64{139.595, 18.006, 17.121}},
		{"hpc2n-3k", 0, 3145, [3]float64{5614.4, 3531.4, 3499.1}, [3]float64{47.305, 16.456, 16.791}},
		{"nasa-ipsc", 0, 18066, [3]float64{8.08, 4.07, 4.07}, [3]float64{1.026, 1.012, 1.012}},
		{"llnl-atlas", 0, 36600, [3]float64{73.8, 27.9, 28.2}, [3]float64{4.479, 1.982, 1.982}},
		{"curie-30k", 5000, 5000, [3]float64{3736.8, 1257.4, 1197.8}, [3]float64{79.592, 22.017, 19.448}},
		{"lublin256", 5000, 5000, [3]float64{1163030.8, 49920.9, 58259.4}, [3]float64{33028.660, 514.144, 472.165}},
	} {
		for i, spec := range []string{"fcfs", "easy", "conservative"} {
			t.Run(fmt.Sprintf("%s/%s", c.input, spec), func(t *testing.T) {
				t.Parallel()
				o := workload.Options{Part: workload.Part{First: c.first}}
				_, s := simulate(t, filepath.Join(dir, "inputs", c.input+".swf.gz"), o, spec, entity.PassEvent)
				require.Equal(t, c.jobs, s.Jobs)
				digits := 10.0
				if c.wait[i] < 10 {
					digits = 100
				}
				require.Equal(t, c.wait[i], math.Round(s.MeanWait*digits)/digits, "mean wait")
				require.Equal(t, c.slowdown[i], math.Round(s.MeanBoundedSlowdown*1000)/1000, "mean bounded slowdown")
			})
		}
	}
}

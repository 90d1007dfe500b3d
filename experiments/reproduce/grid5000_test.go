package reproduce

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// The models that are looked at here.
const (
	oarPlain  = "conservative, 3 s of dispatch"
	oarTested = "OAR's rules, calibrated on other workloads"
	oarFitted = "OAR's rules, calibrated on the same runs"
	oarAgain  = "the machine itself, the same workload again"
	oarWhole  = "runs on all nodes"
)

// archive writes recorded runs where the experiment looks for them.
func archive(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(referenceVariable, dir)
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for name, text := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, packed.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "grid5000-oar-runs.tgz"), b.Bytes(), 0o666))
}

// recorded is a run of three jobs on two nodes: the second one waits for the first,
// from the end of which to the next start pass 4 s; a dispatch takes 1 s.
const recorded = "; MaxProcs: 2\n1 0 1 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n2 2 13 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n3 100 1 5 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n"

func TestCalibrationFindsWhatAMachineWasMadeOf(t *testing.T) {
	archive(t, map[string]string{"results_a_seed1_size32.swf": recorded, "results_b_seed2_size32.swf": recorded, "notes.txt": "nothing"})
	table, err := named(t, "grid5000").Run(t.Context(), Config{Workers: 2})
	require.NoError(t, err)
	rows := map[ref]tableRow{}
	for _, r := range table.rows {
		rows[r.ref()] = r
	}
	require.Equal(t, "5.0", rows[ref{oarTested, "all runs", oarWait}].Paper)
	require.Zero(t, rows[ref{oarTested, "all runs", oarError}].Ours.Mean)
	require.Zero(t, rows[ref{oarAgain, oarTwice, oarError}].Ours.Mean)
	require.Zero(t, rows[ref{oarTested, oarTwice, oarError}].Ours.Mean)
	require.InDelta(t, 5./3, rows[ref{oarPlain, "all runs", oarError}].Ours.Mean, 1e-9, "3 s in place of 1, 14 in place of 13")
	require.InDelta(t, 5, rows[ref{oarTested, "a_seed1", oarWait + " of a run"}].Ours.Mean, 1e-9)
	require.Contains(t, table.notes[0], "seed1: calibrated on the runs of the other workloads: decisions 0 s apart, dispatch 1 s, epilogue 3 s")
	require.Equal(t, verdictHolds, table.claims[len(table.claims)-1].Verdict)
}

func TestAWorkloadIsNotCalibratedOnItself(t *testing.T) {
	k := calibration{
		runs:     []*oarRun{{workload: "seed1"}, {workload: "seed1"}, {workload: "seed2"}},
		machines: []oarMachine{{Dispatch: 1}, {Dispatch: 2}},
		errors:   [][]float64{{0, 0, 2}, {9, 9, 1}},
	}
	require.Equal(t, 2, k.best("seed1").Dispatch)
	require.Equal(t, 1, k.best("seed2").Dispatch)
	require.Equal(t, 1, k.best("").Dispatch)
}

func TestDamagedRunsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n": "x_seed1.swf, line 1: no job that ran: its wait is not known",
		"1 0 1 10 -1 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n": "x_seed1.swf, line 1: no job that ran",
		"; MaxProcs: 2\n": "there are no jobs",
	} {
		archive(t, map[string]string{"x_seed1.swf": text})
		_, err := named(t, "grid5000").Run(t.Context(), Config{})
		require.ErrorContains(t, err, want)
	}
	archive(t, map[string]string{"notes.txt": "nothing"})
	_, err := named(t, "grid5000").Run(t.Context(), Config{})
	require.ErrorContains(t, err, "there are no recorded runs")
	require.NoError(t, os.WriteFile(filepath.Join(os.Getenv(referenceVariable), "grid5000-oar-runs.tgz"), []byte("no archive"), 0o666))
	_, err = named(t, "grid5000").Run(t.Context(), Config{})
	require.ErrorContains(t, err, "grid5000-oar-runs.tgz: ")
	t.Setenv(referenceVariable, "")
	var missing *MissingError
	_, err = named(t, "grid5000").Run(t.Context(), Config{})
	require.ErrorAs(t, err, &missing)
}

func kamelotStarts(t require.TestingT, nodes int, p entity.Policy, jobs []*entity.Job) (starts []des.Time) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(nodes), p)
	var runs []*entity.Run
	for _, j := range jobs {
		runs = append(runs, m.Submit(j))
	}
	require.NoError(t, sim.Run(context.Background()))
	for _, r := range runs {
		starts = append(starts, r.Start)
	}
	return starts
}

func namelessJob(id, submit, runtime, estimate, nodes int) *entity.Job {
	return &entity.Job{ID: int64(id), Submit: des.Time(submit), Runtime: des.Time(runtime), Request: entity.Request{Nodes: nodes, Length: des.Time(estimate)}}
}

// Of three nodes the first is taken until 10 and the second from then on:
//
//	node 0  [#####]
//	node 1        [##########]
//	node 2
//	        0     10         30
func TestWhereNodesHaveNamesRoomOnDifferentOnesIsNone(t *testing.T) {
	k := &kamelot{nodes: 3}
	taken := []busy{{0b001, 0, 10}, {0b010, 10, 30}}
	require.Equal(t, busy{0b100, 0, 25}, k.earliest(taken, 0, entity.Request{Nodes: 1, Length: 25}))
	require.Equal(t, busy{0b101, 10, 35}, k.earliest(taken, 0, entity.Request{Nodes: 2, Length: 25}), "two are free at any time, and none but the third all the time")
	require.Equal(t, busy{0b110, 0, 10}, k.earliest(taken, 0, entity.Request{Nodes: 2, Length: 10}))
	require.Equal(t, busy{0b111, 30, 31}, k.earliest(taken, 0, entity.Request{Nodes: 3, Length: 1}))
}

// Where no two jobs can share a window's nodes in part, names make no difference.
func TestKamelotIsConservativeBackfillingPlannedAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
		width := rapid.SampledFrom([]int{1, nodes}).Draw(t, "width")
		var jobs []*entity.Job
		submit := 0
		for id := range rapid.IntRange(1, 20).Draw(t, "jobs") {
			submit += rapid.IntRange(0, 6).Draw(t, "gap")
			estimate := rapid.IntRange(1, 20).Draw(t, "estimate")
			jobs = append(jobs, namelessJob(id, submit, rapid.IntRange(1, estimate).Draw(t, "runtime"), estimate, width))
		}
		want := kamelotStarts(t, nodes, backfill.EASY{Reservations: backfill.AllReservations}, jobs)
		require.Equal(t, want, kamelotStarts(t, nodes, &kamelot{nodes: nodes, on: map[*entity.Run]uint64{}}, jobs))
	})
}

func TestWhatIsKnownOfOARBringsTheSimulationNearer(t *testing.T) {
	reference(t)
	table, err := named(t, "grid5000").Run(t.Context(), Config{})
	require.NoError(t, err)
	rows := map[ref]tableRow{}
	for _, r := range table.rows {
		rows[r.ref()] = r
	}
	at := func(series string) float64 { return rows[ref{series, oarWhole, oarError}].Ours.Mean }
	require.Less(t, at(oarTested), at(oarPlain))
	require.Less(t, at(oarFitted), at(oarPlain))
}

func secondsJob(id, runtime, nodes int) *entity.Job {
	t := des.Time(runtime) * des.Second
	return &entity.Job{ID: int64(id), Runtime: t, Request: entity.Request{Nodes: nodes, Length: t}}
}

// With 60 s more for each, the two before the third one take 140 s in the plan, and the
// fourth has room beside them.
func TestTheSecurityTimeIsInThePlan(t *testing.T) {
	run := &oarRun{nodes: 3, jobs: []*entity.Job{secondsJob(1, 10, 2), secondsJob(2, 10, 2), secondsJob(3, 5, 3), secondsJob(4, 25, 1)}}
	for _, m := range []oarMachine{{}, {Anew: true}, {Anew: true, Named: true}} {
		waits, err := m.waits(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, []float64{0, 10, 20, 25}, waits, "%+v", m)
		m.Security = 60
		waits, err = m.waits(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, []float64{0, 10, 25, 0}, waits, "%+v", m)
	}
}

func TestNodesThatAreGivenOnAreCountedOnce(t *testing.T) {
	run := &oarRun{jobs: []*entity.Job{secondsJob(1, 10, 2), secondsJob(2, 10, 2), secondsJob(3, 5, 1)}, waits: []float64{0, 10, 12}}
	require.Equal(t, 3, run.peak())
}

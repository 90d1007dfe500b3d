package reproduce

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
)

// smallLogs makes logs of the names given, of a machine of 4 processors: two users'
// jobs, of which a third ask for too much.
func smallLogs(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(tracesVariable, dir)
	t.Setenv(referenceVariable, dir)
	for k, name := range names {
		var b strings.Builder
		b.WriteString("; MaxProcs: 4\n; MaxJobs: 60\n")
		for i := range 60 {
			runtime := 10 + (i*(37+k))%400
			fmt.Fprintf(&b, "%d %d -1 %d %d -1 -1 %d %d -1 1 %d -1 -1 -1 -1 -1 -1\n", i+1, 30*i, runtime, 1+i%4, 1+i%4, runtime*(1+i%3), 1+i%2)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".swf"), []byte(b.String()), 0o666))
	}
}

// fileNames are those of all logs.
func (e sc15) fileNames() (names []string) {
	for _, l := range e.Logs {
		names = append(names, l.File)
	}
	return names
}

func TestPublishedSlowdownsStandBesideOurs(t *testing.T) {
	e := read[sc15](t, "sc15")
	smallLogs(t, e.fileNames()...)
	table, err := with("sc15", e).Run(context.Background(), Config{Seed: 1})
	require.NoError(t, err)
	at := map[ref]tableRow{}
	for _, r := range table.rows {
		at[r.ref()] = r
	}
	for i, log := range []string{"KTH-SP2", "CTC-SP2", "SDSC-SP2", "SDSC-BLUE", "CEA-Curie"} {
		plus := at[ref{"EASY++ (SJBF, last two, Tsafrir)", "", slowdownIn(log)}]
		require.Equal(t, strings.Fields("63.50068 85.76717 79.39628 20.98643 193.47130")[i], plus.Code)
		require.Equal(t, 1, plus.Ours.N)
		hindsight := at[ref{"SJBF, learned, their best of each log in hindsight", "", slowdownIn(log)}]
		require.Equal(t, strings.Fields("45.79748 15.14997 65.02017 10.62405 21.40487")[i], hindsight.Code)
		require.Zero(t, hindsight.Ours.N, "it is not run here")
		require.Equal(t, 100.0, at[ref{"SJBF, true runtimes", log, accuracyOf}].Ours.Mean)
		require.Zero(t, at[ref{"EASY, twice the request", log, tooShortOf}].Ours.Mean)
		require.Positive(t, at[ref{"EASY++ (SJBF, last two, Tsafrir)", log, tooShortOf}].Ours.Mean)
	}
	for name, want := range map[string]string{sc15EASY: "1.0000", "EASY++ (SJBF, last two, Tsafrir)": "0.9703", "SJBF, true runtimes": "0.3921", "SJBF, learned, their best single setting": "0.4632"} {
		require.Equal(t, want, at[ref{name, "", sc15Ratio}].Code)
	}
	require.Equal(t, 1.0, at[ref{sc15EASY, "", sc15Ratio}].Ours.Mean)
	require.Zero(t, at[ref{"SJBF, learned, their best of each log in hindsight", "", sc15Ratio}].Ours.N)
	mean := 0.0
	for _, log := range e.Logs {
		mean += at[ref{"SJBF, true runtimes", "", slowdownIn(log.Name)}].Ours.Mean / at[ref{sc15EASY, "", slowdownIn(log.Name)}].Ours.Mean / 5
	}
	require.InDelta(t, mean, at[ref{"SJBF, true runtimes", "", sc15Ratio}].Ours.Mean, 1e-12)
	orders := 0
	for _, c := range table.claims {
		if c.Where == "" {
			orders++
			require.NotContains(t, c.Text, "SJBF, learned, their best of each log in hindsight")
		}
		require.NotContains(t, c.Detail, "not measured", c.Text)
	}
	require.Equal(t, 2*6, orders, "of five logs and their mean, each with both kinds of decisions")
}

func TestLogsThatAreNotThereAreNamed(t *testing.T) {
	e := read[sc15](t, "sc15")
	smallLogs(t, e.Logs[1].File)
	table, err := with("sc15", e).Run(context.Background(), Config{Seed: 1})
	require.NoError(t, err)
	require.Contains(t, strings.Join(table.notes, " "), "Without KTH-SP2: KTH-SP2-1996-2.swf is not at hand: set GRIDSLOT_TRACES")
	for _, r := range table.rows {
		require.NotEqual(t, slowdownIn("KTH-SP2"), r.Quantity)
	}
	require.Equal(t, "49.57129", table.rows[0].Code, "the second log's")

	smallLogs(t)
	_, err = with("sc15", e).Run(context.Background(), Config{Seed: 1})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "Parallel Workloads Archive")
}

func TestTheVariantDecidesOnceAnInstant(t *testing.T) {
	for once, want := range map[bool]string{false: "event", true: "instant"} {
		sc := (&sc15Cell{of: prediction{Policy: "easy:arrivals=fitting"}, once: once}).scenario()
		require.Equal(t, want, sc.Settings.Pass.String())
	}
}

func TestJobsThatFareOtherwiseThanPublishedAreCounted(t *testing.T) {
	e := read[sc15](t, "sc15")
	smallLogs(t, e.Logs[0].File)
	cell := &sc15Cell{log: sc15Log{path: filepath.Join(os.Getenv(tracesVariable), e.Logs[0].File+".swf")}, of: prediction{Name: "EASY++", Policy: "easy++", PerJob: true}}
	require.NoError(t, cell.simulate(context.Background()))
	require.Equal(t, -1, cell.differs)
	dir := t.TempDir()
	_, err := simulation.Run(context.Background(), cell.scenario(), simulation.Options{Dir: dir})
	require.NoError(t, err)
	rows, err := readColumns(filepath.Join(dir, "jobs-easy++.csv"), "job_id", "waiting_time", "prediction", "corrections")
	require.NoError(t, err)
	corrected := 0
	var b strings.Builder
	b.WriteString("job,wait,initial_prediction,under_predictions,backfilled\n")
	for i, r := range rows {
		if r[3] > 0 {
			corrected++
		}
		switch i {
		case 3:
			r[1]++
		case 5:
			r[2]++
		case 7:
			r[3]++
		}
		fmt.Fprintf(&b, "%v,%v,%v,%v,-1\n", r[0], r[1], r[2], r[3]-1)
	}
	require.Positive(t, corrected)
	cell.log.jobs = filepath.Join(dir, "published.csv")
	require.NoError(t, os.WriteFile(cell.log.jobs, []byte(b.String()), 0o666))
	require.NoError(t, cell.simulate(context.Background()))
	require.Equal(t, 3, cell.differs)
	var none simulation.AccuracySummary
	require.NotEqual(t, none, *cell.result.Accuracy)
}

func TestSC15IsMetToTheLastDigitOnTheSmallestLog(t *testing.T) {
	if os.Getenv(tracesVariable) == "" {
		t.Skipf("%s is not set: no logs at hand", tracesVariable)
	}
	e := read[sc15](t, "sc15")
	e.Logs = e.Logs[:1]
	table, err := with("sc15", e).Run(context.Background(), Config{Seed: 1})
	var missing *MissingError
	if err != nil {
		require.ErrorAs(t, err, &missing)
		t.Skip(err)
	}
	require.NoError(t, err)
	for _, r := range table.rows {
		if f, ok := parseFigure(r.Code); ok && r.Variant == "" && r.Ours.N > 0 && r.Series != "SJBF, learned, their best single setting" { // whose steps are not all told
			require.True(t, table.agrees(f, r), "%v: %v, published %s", r.ref(), r.Ours.Mean, r.Code)
		}
	}
}

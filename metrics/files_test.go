package metrics

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// sortedByID are the lines of a file of jobs, the heading first, by their ids.
func sortedByID(text string) []string {
	lines := slices.Collect(strings.Lines(text))
	id := func(line string) int {
		first, _, _ := strings.Cut(line, ",")
		n, _ := strconv.Atoi(first)
		return n
	}
	slices.SortStableFunc(lines[1:], func(a, b string) int { return cmp.Compare(id(a), id(b)) })
	return lines
}

func TestAFileOfWhichAJobIsStoppedLateIsAsOneThatTellsOfAttemptsFromTheBeginning(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "jobs.csv")
		f, err := CreateJobs(path)
		require.NoError(t, err)
		defer f.Abort()
		var with, without bytes.Buffer
		tells, bare := NewJobsWriter(&with), NewJobsWriter(&without)
		tells.Attempts = true
		name := strings.Repeat("x", rapid.SampledFrom([]int{1, 5000, 9000}).Draw(t, "length of a name"))
		predicted := rapid.Bool().Draw(t, "columns behind those about attempts")
		for _, w := range []*JobsWriter{f.JobsWriter, tells, bare} {
			w.Workload, w.Predicted = name, predicted
		}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(4), &favourite{}, f, tells, bare)
		ids := rapid.Permutation([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).Draw(t, "ids")
		if rapid.Bool().Draw(t, "ascending") {
			slices.Sort(ids)
		}
		var runs []*entity.Run
		for i, id := range ids {
			length := rapid.IntRange(1, 9).Draw(t, "length")
			runs = append(runs, m.Submit(job(id, des.Time(3*i)*sec, rapid.IntRange(1, 4).Draw(t, "nodes"), des.Time(length)*sec, 9*sec)))
		}
		for range rapid.IntRange(0, 2).Draw(t, "stops") {
			which := rapid.IntRange(0, len(runs)-1).Draw(t, "which")
			sim.At(des.Time(rapid.IntRange(0, 60).Draw(t, "when"))*sec, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) {
				m.Preempt(runs[which], 0) // if it runs
			}), 0)
		}
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, tells.Close())
		require.NoError(t, bare.Close())
		require.NoError(t, f.Commit())
		want := without.String()
		if f.Again() {
			want = with.String()
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, sortedByID(want), slices.Collect(strings.Lines(string(text))))
	})
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays")
}

// Before any job is stopped nobody has asked for the columns about attempts, but what a job has
// lost that somebody killed stands there later, in its own row.
func TestWhatAJobLostThatWasKilledBeforeAnyWasStoppedStandsInItsRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	f, err := CreateJobs(path)
	require.NoError(t, err)
	defer f.Abort()
	var text bytes.Buffer
	tells := NewJobsWriter(&text)
	tells.Attempts = true
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), &favourite{}, f, tells)
	var runs []*entity.Run
	for i := range 4 {
		runs = append(runs, m.Submit(job(int64(i+1), des.Time(20*i)*sec, 1, 9*sec, 9*sec)))
	}
	at := func(when des.Time, do func()) {
		sim.At(when, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) { do() }), 0)
	}
	at(25*sec, func() { require.True(t, m.Kill(runs[1], "by hand")) })
	at(65*sec, func() { require.True(t, m.Preempt(runs[3], 0)) })
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, tells.Close())
	require.NoError(t, f.Commit())
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text.String(), string(got))
	require.Contains(t, string(got), "reason=by hand")
}

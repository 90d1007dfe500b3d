package bench_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	sim "github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload/model"
)

// storm is a machine of 10,000 nodes of which one fails every minute, and takes four
// hours to repair; jobs come all 31.5 s, a million in a year.
type storm struct {
	jobs   int64
	next   int64
	at     float64
	random *des.Simulator // whose stream draws the jobs
}

const stormNodes = 10_000

func (s *storm) Next() (*entity.Job, bool) {
	if s.next == s.jobs {
		return nil, false
	}
	s.next++
	random := s.random.Stream("job", uint64(s.next))
	s.at += 31.5 * random.ExpFloat64()
	// A mean of 64 nodes and of 3,000 s: 0.6 of the machine.
	length := des.Seconds(max(1, math.Floor(3000*random.ExpFloat64())))
	return &entity.Job{ID: s.next, Submit: des.Seconds(math.Floor(s.at)), Runtime: length, User: -1, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: 1 + min(int(63*random.ExpFloat64()), 999), Length: 2 * length}}, true
}

// accounts counts what becomes of jobs.
type accounts struct{ submitted, ended, requeued int }

func (a *accounts) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobSubmitted:
		a.submitted++
	case entity.JobFinished, entity.JobKilled, entity.JobRejected:
		a.ended++
	case entity.JobRequeued:
		a.requeued++
	}
}

// run runs so many jobs, and returns what became of them, how many failures there were
// and how many events.
func (s storm) run(t testing.TB, dir string) (a accounts, failures int, r sim.Result) {
	s.random = des.New(des.Config{Seed: 1})
	all, err := model.Failures{Units: stormNodes, Up: model.Exponential{Scale: stormNodes * 60}, Repair: model.LognormalOf(1, 4*3600), Seed: 1}.All()
	require.NoError(t, err)
	o := &flow.Outages{Victims: flow.Victims{Rule: flow.VictimsCheckpoint, Restart: des.Minute, Checkpoints: entity.Checkpoints{Interval: des.Hour / 2, Cost: des.Minute}}}
	o.Submit(func(yield func(flow.Outage) bool) {
		for x := range all {
			failures++
			if !yield(flow.Outage{Known: x.From, From: x.From, To: x.To, Where: entity.Where{Set: []procset.Range{{First: int32(x.First), Last: int32(x.Last)}}}}) {
				return
			}
		}
	})
	r, err = sim.Simulate(context.Background(), &s, sim.RunSettings{
		Policy: backfill.EASY{}, Processors: stormNodes, Dir: dir, Workload: "storm", Outages: o, Observers: []entity.Observer{&a},
	})
	require.NoError(t, err)
	return a, failures, r
}

func TestInAStormOfFaultsEveryJobIsAccountedForAndTheSameSeedGivesTheSameBytes(t *testing.T) {
	jobs := int64(5_000)
	if os.Getenv("GRIDSLOT_STORM") != "" {
		jobs = 1_000_000
	}
	first, again := t.TempDir(), t.TempDir()
	a, failures, r := storm{jobs: jobs}.run(t, first)
	require.EqualValues(t, jobs, a.submitted)
	require.EqualValues(t, jobs, a.ended)
	require.Greater(t, a.requeued, failures/4)
	storm{jobs: jobs}.run(t, again)
	for _, name := range r.Files {
		want, err := os.ReadFile(filepath.Join(first, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(again, name))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), name)
	}
}

// BenchmarkFaultStorm is the whole year where GRIDSLOT_STORM is set, and otherwise a
// fiftieth of it.
func BenchmarkFaultStorm(b *testing.B) {
	jobs := int64(20_000)
	if os.Getenv("GRIDSLOT_STORM") != "" {
		jobs = 1_000_000
	}
	var failures, requeued int
	var events uint64
	var memory runtime.MemStats
	for b.Loop() {
		a, n, r := storm{jobs: jobs}.run(b, "")
		failures, requeued, events = n, a.requeued, r.Summary.Events
		runtime.ReadMemStats(&memory)
	}
	b.ReportMetric(float64(failures), "failures")
	b.ReportMetric(float64(requeued), "requeued")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
	b.ReportMetric(float64(memory.Sys)/(1<<20), "MB-sys")
	b.Log(fmt.Sprint(events, " events"))
}

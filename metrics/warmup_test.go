package metrics

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/internal/naive"
)

func TestASummaryAfterAWarmUpEqualsItsDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := naive.New(drawer(t))
		jobs := naive.Jobs(drawer(t), s.Procs)
		tau := des.Time(rapid.Int64Range(1, 100).Draw(t, "tau")) * des.Second
		rec := &Recorder{Processors: s.Procs, Tau: Tau(tau)}
		from := des.Forever
		early := func(i int) bool { return i < rec.Warmup.Jobs }
		if rapid.Bool().Draw(t, "by time") {
			rec.Warmup.Until = des.Time(rapid.Int64Range(1, 300).Draw(t, "until")) * des.Second
			from = jobs[0].Submit + rec.Warmup.Until
			early = func(i int) bool { return jobs[i].Submit < from }
		} else {
			rec.Warmup.Jobs = rapid.IntRange(1, len(jobs)).Draw(t, "jobs")
			if rec.Warmup.Jobs < len(jobs) {
				from = jobs[rec.Warmup.Jobs].Submit
			}
		}
		s.Observers = []entity.Observer{rec}
		s.Run(jobs)

		var want Summary
		var waits, turnarounds, slowdowns []float64
		var area des.Time
		last := des.Time(0)
		for i, j := range s.Runs {
			ran := j.State == entity.Finished || j.State == entity.Killed
			if ran {
				area += des.Time(j.Request.Nodes) * max(0, j.Finish-max(j.Start, from))
				last = max(last, j.Finish)
			}
			if early(i) {
				continue
			}
			want.Jobs++
			switch {
			case j.State == entity.Rejected:
				want.Rejected++
			case j.State == entity.Waiting:
				want.Waiting++
			case j.State == entity.Killed:
				want.Killed++
			}
			if !ran {
				continue
			}
			if j.Backfilled {
				want.Backfilled++
			}
			turnaround, run := (j.Finish - j.Submit).Seconds(), (j.Finish - j.Start).Seconds()
			waits, turnarounds = append(waits, turnaround-run), append(turnarounds, turnaround)
			slowdowns = append(slowdowns, math.Max(1, turnaround/math.Max(run, tau.Seconds())))
		}
		got := rec.Summary()
		require.Equal(t, []int{want.Jobs, want.Rejected, want.Killed, want.Backfilled, want.Waiting}, []int{got.Jobs, got.Rejected, got.Killed, got.Backfilled, got.Waiting})
		if len(waits) > 0 {
			slices.Sort(waits)
			require.InDelta(t, stat.Mean(waits, nil), got.MeanWait, 1e-9)
			require.InDelta(t, linear(waits, 0.5), got.MedianWait, 1e-9)
			require.InDelta(t, linear(waits, 0.95), got.P95Wait, 1e-9)
			require.Equal(t, waits[len(waits)-1], got.MaxWait)
			require.InDelta(t, stat.Mean(turnarounds, nil), got.MeanTurnaround, 1e-9)
			require.InDelta(t, stat.Mean(slowdowns, nil), got.MeanBoundedSlowdown, 1e-9)
		}
		span := max(0, last-from).Seconds()
		require.Equal(t, span, got.Makespan)
		if span > 0 {
			require.InDelta(t, area.Seconds()/(span*float64(s.Procs)), got.Utilization, 1e-12)
		} else {
			require.Zero(t, got.Utilization)
		}
	})
}

func TestAttemptsOfAWarmUpAreBusyAfterItAsFarAsTheyLast(t *testing.T) {
	const s = des.Second
	rec := &Recorder{Processors: 2, Warmup: Warmup{Until: 15 * s}}
	early, later := entity.NewRun(job(1, 0, 2, 100*s, 100*s), 0), entity.NewRun(job(2, 15*s, 1, 10*s, 10*s), 1)
	rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: early})
	rec.Observe(entity.JobEvent{Kind: entity.JobStarted, Run: early})
	rec.Observe(entity.JobEvent{Time: 15 * s, Kind: entity.JobSubmitted, Run: later})
	early.Restore([]entity.Attempt{{Window: entity.Window{End: 100 * s, Nodes: 2}, End: 20 * s, Ends: []des.Time{10 * s, 20 * s}}}, 0, nil)
	rec.Observe(entity.JobEvent{Time: 20 * s, Kind: entity.JobRequeued, Run: early})
	rec.Observe(entity.JobEvent{Time: 20 * s, Kind: entity.JobStarted, Run: later})
	require.Zero(t, rec.Summary().Waiting, "the job that waits is one of the warm-up")
	ran(later, 20*s, 30*s)
	rec.Observe(entity.JobEvent{Time: 30 * s, Kind: entity.JobFinished, Run: later})
	got := rec.Summary()
	require.Equal(t, (5.0+10.0)/(2*15), got.Utilization)
	require.Equal(t, 1, got.Jobs)
	require.Equal(t, 5.0, got.MeanWait)
}

func TestPiecesOfAWarmUpAreWorkAfterItAsFarAsTheyLast(t *testing.T) {
	const s = des.Second
	rec := &Recorder{Warmup: Warmup{Until: 15 * s}}
	r := entity.NewRun(job(1, 0, 2, 100*s, 30*s), 0)
	rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: r})
	for _, ends := range [][]des.Time{nil, {5 * s, 25 * s}} {
		r.AddPart(entity.Part{Speed: 2, Attempt: entity.Attempt{Window: entity.Window{Nodes: 2}, End: 30 * s, Ends: ends}})
	}
	r.Finish = 30 * s
	rec.Observe(entity.JobEvent{Time: 30 * s, Kind: entity.JobFinished, Run: r})
	require.Equal(t, 2*(2*15.0+10), rec.work.value())
	require.Equal(t, 15.0, rec.Summary().Makespan)
	require.Empty(t, rec.warming.early, "nothing is kept of a job that is over")
}

func TestAWarmUpIsWrittenAsItIsRead(t *testing.T) {
	require.Equal(t, "604800s", Warmup{Until: 7 * des.Day}.String())
	require.Equal(t, "jobs=5000", Warmup{Jobs: 5000}.String())
	require.Empty(t, Warmup{}.String())
	for _, w := range []Warmup{{Until: 7 * des.Day}, {Until: des.Second / 4}, {Jobs: 5000}, {}} {
		read, err := ParseWarmup(w.String())
		require.NoError(t, err)
		require.Equal(t, w, read)
	}
	w, err := ParseWarmup("7d")
	require.NoError(t, err)
	require.Equal(t, 7*des.Day, w.Until)
	for _, wrong := range []string{"jobs=-1", "-1", "jobs=", "x", "mser"} {
		_, err := ParseWarmup(wrong)
		require.ErrorContains(t, err, "want how many jobs", wrong)
	}
}

func TestTheUsualTauIsTenSeconds(t *testing.T) {
	require.Equal(t, "10", Tau(0).String())
	require.Equal(t, 10.0, BoundedSlowdown(99*des.Second, des.Second))
	tau, err := ParseTau("1m")
	require.NoError(t, err)
	require.Equal(t, 2.0, tau.Slowdown(119*des.Second, des.Second))
	require.Equal(t, 1.0, tau.Slowdown(0, des.Second))
	for _, text := range []string{"0", "-1", "x", "", "1e-9"} {
		_, err := ParseTau(text)
		require.Error(t, err, text)
	}
}

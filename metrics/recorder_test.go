package metrics

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/internal/naive"
)

// The summary is what a loop over the finished jobs gives.
func TestSummaryEqualsItsDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := naive.New(drawer(t))
		jobs := naive.Jobs(drawer(t), s.Procs)
		rec := NewRecorder()
		rec.Processors = s.Procs
		s.Observers = []entity.Observer{rec}
		s.Run(jobs)

		var want Summary
		var waits, turnarounds, slowdowns []float64
		var area float64
		last, work := 0.0, 0.0
		var offers []float64
		for _, j := range s.Runs {
			want.Jobs++
			if j.Job.Request.Nodes <= s.Procs {
				work += j.Job.Runtime.Seconds() * float64(j.Job.Request.Nodes)
				offers = append(offers, j.Submit.Seconds())
			}
			if j.State == entity.Rejected {
				want.Rejected++
				continue
			}
			if j.State == entity.Killed {
				want.Killed++
			}
			if j.Backfilled {
				want.Backfilled++
			}
			wait, run := (j.Start - j.Submit).Seconds(), (j.Finish - j.Start).Seconds()
			waits = append(waits, wait)
			turnarounds = append(turnarounds, wait+run)
			slowdowns = append(slowdowns, math.Max(1, (wait+run)/math.Max(run, 10)))
			area += run * float64(j.Request.Nodes)
			last = math.Max(last, j.Finish.Seconds())
		}
		if len(waits) > 0 {
			slices.Sort(waits)
			want.MeanWait, want.MaxWait = stat.Mean(waits, nil), waits[len(waits)-1]
			want.MedianWait = linear(waits, 0.5)
			want.P95Wait = linear(waits, 0.95)
			want.MeanTurnaround = stat.Mean(turnarounds, nil)
			want.MeanBoundedSlowdown = stat.Mean(slowdowns, nil)
			want.Makespan = last - jobs[0].Submit.Seconds()
			if want.Makespan > 0 {
				want.Utilization = area / (want.Makespan * float64(s.Procs))
			}
		}
		if len(offers) > 0 && slices.Max(offers) > slices.Min(offers) {
			want.OfferedLoad = work / (float64(s.Procs) * (slices.Max(offers) - slices.Min(offers)))
		}
		got := rec.Summary()
		require.InEpsilon(t, 1+want.OfferedLoad, 1+got.OfferedLoad, 1e-12)
		got.OfferedLoad = want.OfferedLoad
		require.InDelta(t, want.MeanWait, got.MeanWait, 1e-9)
		require.InDelta(t, want.MedianWait, got.MedianWait, 1e-9)
		require.InDelta(t, want.P95Wait, got.P95Wait, 1e-9)
		require.InDelta(t, want.MeanTurnaround, got.MeanTurnaround, 1e-9)
		require.InDelta(t, want.MeanBoundedSlowdown, got.MeanBoundedSlowdown, 1e-9)
		require.InDelta(t, want.Utilization, got.Utilization, 1e-12)
		got.MeanWait, got.MedianWait, got.P95Wait, got.MeanTurnaround = want.MeanWait, want.MedianWait, want.P95Wait, want.MeanTurnaround
		got.MeanBoundedSlowdown, got.Utilization = want.MeanBoundedSlowdown, want.Utilization
		require.Equal(t, want, got)
	})
}

// linear is definition 7 of Hyndman and Fan on sorted values.
func linear(x []float64, p float64) float64 {
	h := float64(len(x)-1) * p
	k := int(math.Floor(h + 1e-9))
	if k+1 == len(x) {
		return x[k]
	}
	return x[k] + (h-float64(k))*(x[k+1]-x[k])
}

func TestSummaryOfNothingIsZero(t *testing.T) {
	require.Equal(t, Summary{}, NewRecorder().Summary())
}

func TestSummaryMayBeAskedTwiceAndMeanwhile(t *testing.T) {
	rec := NewRecorder()
	end := func(id int64, wait des.Time) {
		j := entity.NewRun(job(id, 0, 1, 100*des.Second, 10*des.Second), id)
		rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: j})
		ran(j, wait, wait+10*des.Second)
		rec.Observe(entity.JobEvent{Time: wait + 10*des.Second, Kind: entity.JobFinished, Run: j})
	}
	end(1, 30*des.Second)
	end(2, 10*des.Second)
	require.Equal(t, 20.0, rec.Summary().MedianWait)
	require.Equal(t, 20.0, rec.Summary().MedianWait)
	end(3, 5*des.Second)
	require.Equal(t, 10.0, rec.Summary().MedianWait)
}

// ran has j run on counted processors.
func ran(j *entity.Run, start, finish des.Time) {
	j.State, j.Start, j.Finish = entity.Finished, start, finish
	j.Reservation.Window = entity.Window{Start: start, End: start + j.Request.Length, Nodes: j.Request.Nodes}
}

func TestPreemptedJobsCountAsBusyBothTimes(t *testing.T) {
	rec := &Recorder{Processors: 2}
	j := entity.NewRun(job(1, 0, 2, 10*des.Second, 10*des.Second), 0)
	rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: j})
	rec.Observe(entity.JobEvent{Kind: entity.JobStarted, Run: j})
	j.Restore([]entity.Attempt{{Window: entity.Window{End: 10 * des.Second, Nodes: 2}, End: 5 * des.Second}}, 0, nil)
	require.Zero(t, rec.Summary().Waiting)
	rec.Observe(entity.JobEvent{Time: 5 * des.Second, Kind: entity.JobRequeued, Run: j})
	require.Equal(t, 1, rec.Summary().Waiting)
	rec.Observe(entity.JobEvent{Time: 10 * des.Second, Kind: entity.JobStarted, Run: j})
	ran(j, 10*des.Second, 20*des.Second)
	rec.Observe(entity.JobEvent{Time: 20 * des.Second, Kind: entity.JobFinished, Run: j})
	require.Equal(t, 0.75, rec.Summary().Utilization)
	require.Equal(t, 10.0, rec.Summary().MeanWait)
}

func TestNodesThatEndApartAreBusyForTheirOwnTimes(t *testing.T) {
	rec := &Recorder{Processors: 2}
	j := entity.NewRun(job(1, 0, 2, 100*des.Second, 50*des.Second), 0)
	j.State, j.Finish = entity.Finished, 50*des.Second
	j.Restore(nil, 0, []des.Time{50 * des.Second, 10 * des.Second})
	j.Reservation.Window = entity.Window{Start: 0, End: 100 * des.Second, Nodes: 2, Tasks: []entity.Task{
		{Node: &entity.Node{ID: 1}, End: 100 * des.Second}, {Node: &entity.Node{ID: 2}, End: 20 * des.Second},
	}}
	rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: j})
	rec.Observe(entity.JobEvent{Time: 50 * des.Second, Kind: entity.JobFinished, Run: j})
	require.Equal(t, (50.0+10.0)/(2*50), rec.Summary().Utilization)
}

func TestSumsAreExactWhereInt64Overflows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sum128
		want := new(big.Int)
		for range rapid.IntRange(0, 50).Draw(t, "n") {
			n := int(rapid.Int64Range(1, min(1<<40, math.MaxInt)).Draw(t, "nodes"))
			v := rapid.Int64Range(0, math.MaxInt64).Draw(t, "area")
			s.addArea(n, des.Time(v))
			want.Add(want, new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(v)))
			x := rapid.Int64Range(-1<<62, 1<<62).Draw(t, "ticks")
			s.add(des.Time(x))
			want.Add(want, big.NewInt(x))
		}
		f, _ := new(big.Float).Quo(new(big.Float).SetInt(want), big.NewFloat(1e6)).Float64()
		require.InEpsilon(t, 1+math.Abs(f), 1+math.Abs(s.seconds()), 1e-15)
		require.Equal(t, f < 0, s.seconds() < 0)
	})
}

func TestOrderStatisticsEqualSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			n *= 100 // more than a chunk
		}
		few := rapid.Int64Range(1, 1000).Draw(t, "values")
		units := []des.Time{1, des.Second, des.Second, 1 << 32 * des.Second / 500, math.MaxInt64 / 1000}
		unit := units[rapid.IntRange(0, len(units)-1).Draw(t, "unit")]
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var s sample
		sorted := make([]des.Time, n)
		for i := range sorted {
			sorted[i] = des.Time(random.Int64N(few+1)) * unit
			if random.IntN(10) == 0 {
				sorted[i] /= 3
			}
			s.add(sorted[i])
		}
		slices.Sort(sorted)
		require.Equal(t, n, s.len())
		require.Equal(t, sorted[n-1], s.greatest)
		for _, k := range []int{0, n / 2, n - 1, random.IntN(n)} {
			require.Equal(t, sorted[k], s.order(k))
		}
	})
}

func TestCompensatedSumLosesNothing(t *testing.T) {
	var c compensated
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		c.add(x)
	}
	require.Equal(t, 2.0, c.value())
}

func BenchmarkRecorder(b *testing.B) {
	rec := NewRecorder()
	j := entity.NewRun(job(1, 0, 4, 100*des.Second, 77*des.Second), 0)
	for i := 0; b.Loop(); i++ {
		start := des.Time(i%1000) * des.Second
		ran(j, start, start+77*des.Second)
		rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: j})
		rec.Observe(entity.JobEvent{Time: j.Start, Kind: entity.JobStarted, Run: j})
		rec.Observe(entity.JobEvent{Time: j.Start + 77*des.Second, Kind: entity.JobFinished, Run: j})
	}
}

func TestAnAdvanceReservationThatEndedDoesNotWait(t *testing.T) {
	rec := &Recorder{Processors: 2}
	booked := entity.NewRun(job(1, 0, 1, 10*des.Second, 10*des.Second), 0)
	booked.Booked = true
	rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: booked})
	require.Equal(t, 1, rec.Summary().Waiting, "it has its reservation ahead")
	rec.Observe(entity.JobEvent{Time: 5 * des.Second, Kind: entity.JobStarted, Run: booked})
	ran(booked, 5*des.Second, 15*des.Second)
	rec.Observe(entity.JobEvent{Time: 15 * des.Second, Kind: entity.JobFinished, Run: booked})
	require.Zero(t, rec.Summary().Waiting)
}

// On 4 processors a job has 2 for 20 s, and then 4 for 10 s. The warm-up ends after 15 s.
func TestWhatAJobHadBeforeItWasResizedWasBusy(t *testing.T) {
	const s = des.Second
	for _, test := range []struct {
		warmup Warmup
		want   float64
	}{
		{Warmup{}, (2*20 + 4*10.0) / (4 * 30)},
		{Warmup{Until: 15 * s}, (2*5 + 4*10.0) / (4 * 15)},
	} {
		rec := &Recorder{Processors: 4, Warmup: test.warmup}
		r := entity.NewRun(job(1, 0, 2, 100*s, 30*s), 0)
		rec.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: r})
		rec.Observe(entity.JobEvent{Kind: entity.JobStarted, Run: r})
		r.Restore([]entity.Attempt{{Window: entity.Window{Nodes: 2}, End: 20 * s, Work: 20 * s, Kept: 20 * s}}, 20*s, nil)
		rec.Observe(entity.JobEvent{Time: 20 * s, Kind: entity.JobResized, Run: r})
		ran(r, 20*s, 30*s)
		r.Reservation.Window.Nodes = 4
		rec.Observe(entity.JobEvent{Time: 30 * s, Kind: entity.JobFinished, Run: r})
		require.InDelta(t, test.want, rec.Summary().Utilization, 1e-12)
	}
}

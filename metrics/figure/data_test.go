package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/rows"
)

const s = des.Second

func TestThinnedSpansHaveLeastMostAndMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "spans")
		width := rapid.IntRange(1, 8).Draw(t, "width")
		length := n * width
		at := rapid.SliceOfN(rapid.IntRange(0, length), 0, 20).Draw(t, "times")
		at = append(at, 0, length)
		slices.Sort(at)
		var changes []change
		for _, x := range at {
			changes = append(changes, change{100 + float64(x), float64(rapid.IntRange(-3, 9).Draw(t, "value"))})
		}
		holds := make([]float64, length) // of each unit of time, from its beginning
		for u := range holds {
			for _, c := range changes {
				if c.at <= 100+float64(u) {
					holds[u] = c.value
				}
			}
		}
		got := thin(changes, n)
		require.Len(t, got, n)
		for i, s := range got {
			require.Equal(t, 100+float64(i*width), s.from)
			require.Equal(t, 100+float64((i+1)*width), s.to)
			mean, seen := 0.0, []float64{}
			for u := i * width; u < (i+1)*width; u++ {
				mean += holds[u] / float64(width)
			}
			before := changes[0].value // the value when the span begins, before what changes then
			for _, c := range changes {
				if c.at < s.from {
					before = c.value
				}
				if c.at >= s.from && (c.at < s.to || i == n-1) {
					seen = append(seen, c.value)
				}
			}
			seen = append(seen, before)
			require.InDelta(t, mean, s.mean, 1e-9)
			require.Equal(t, slices.Min(seen), s.least)
			require.Equal(t, slices.Max(seen), s.most)
		}
	})
}

func TestAnECDFStepsByTheShareOfValuesThatAreNoGreater(t *testing.T) {
	require.Equal(t, points{{X: 1, Y: 0.25}, {X: 2, Y: 0.75}, {X: 5, Y: 1}}, distributionOf([]float64{2, 5, 1, 2}).ecdf(durationScale{}.place))
	require.Nil(t, distributionOf(nil).ecdf(durationScale{}.place))
}

func TestAThinnedECDFIsExactAtItsStepsAndNearBetweenThem(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var values []float64
	for range 50_000 {
		values = append(values, math.Floor(random.ExpFloat64()*5000))
	}
	scale := durationScale{}.place
	got := distributionOf(values).ecdf(scale)
	require.Less(t, len(got), 3000)
	share := func(x float64) (n float64) {
		for _, v := range values {
			if v <= x {
				n++
			}
		}
		return n / float64(len(values))
	}
	whole := scale(slices.Max(values)) - scale(slices.Min(values))
	for i, p := range got {
		if i%50 == 0 || i == len(got)-1 {
			require.Equal(t, share(p.X), p.Y)
		}
		if i > 0 && scale(p.X)-scale(got[i-1].X) > 0.0011*whole {
			require.Less(t, share(math.Nextafter(p.X, 0))-got[i-1].Y, 0.0011)
		}
	}
	require.Equal(t, slices.Max(values), got[len(got)-1].X)
	require.Equal(t, 1.0, got[len(got)-1].Y)
}

// ran is a job that was submitted at submit, waited and ran for so many seconds.
func ran(submit, wait, run des.Time, processors int, slowdown float64) rows.Job {
	return rows.Job{Submit: submit * s, Start: (submit + wait) * s, Finish: (submit + wait + run) * s, Runtime: run * s, Estimate: 2 * run * s,
		Processors: processors, State: rows.Finished, BoundedSlowdown: slowdown}
}

func TestSizesAreClassedByPowersOfTwo(t *testing.T) {
	for size, want := range map[int]string{1: "1", 2: "2", 3: "4", 4: "4", 5: "8", 8: "8", 9: "16", 1000: "1024", 1025: "2048"} {
		require.Equal(t, want, bySize.name(bySize.of(&rows.Job{Processors: size})), size)
	}
	require.Equal(t, -1, bySize.of(&rows.Job{}))
}

func TestEstimatesAreClassedByTheirUpperEnds(t *testing.T) {
	for estimate, want := range map[des.Time]string{
		0: "1 min", des.Minute: "1 min", des.Minute + 1: "10 min", des.Hour: "1 h", des.Hour + 1: "4 h", des.Day: "1 d", des.Day + 1: "more", des.Forever: "more",
	} {
		require.Equal(t, want, byEstimate.name(byEstimate.of(&rows.Job{Estimate: estimate})), estimate)
	}
	require.Equal(t, -1, byEstimate.of(&rows.Job{Estimate: rows.None}))
}

func TestClassesHaveTheMeansOfTheirJobs(t *testing.T) {
	rejected := ran(0, 500, 1, 4, 9)
	rejected.State = rows.Rejected
	waiting := rows.Job{Start: rows.None, Finish: rows.None, Processors: 4, State: rows.Submitted, BoundedSlowdown: math.NaN()}
	got := bySize.grouped([]rows.Job{ran(0, 10, 5, 3, 2), ran(7, 40, 5, 4, 5), ran(9, 100, 5, 1, 20), rejected, waiting})
	require.Len(t, got, 3)
	require.Equal(t, []int{1, 0, 2}, []int{got[0].wait.N(), got[1].wait.N(), got[2].wait.N()})
	require.Equal(t, 100.0, got[0].wait.Mean())
	require.Equal(t, 25.0, got[2].wait.Mean())
	require.Equal(t, 3.5, got[2].slowdown.Mean())
}

func TestRatesEqualThoseCountedMinuteByMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		origin := time.Date(1996, 9, 22, 23, 0, 0, 0, time.FixedZone("half", -(3*60+30)*60)).Add(time.Duration(rapid.IntRange(0, 180).Draw(t, "origin")) * time.Minute)
		var jobs []rows.Job
		for range rapid.IntRange(2, 6).Draw(t, "jobs") {
			jobs = append(jobs, ran(des.Time(60*rapid.IntRange(0, 60*60).Draw(t, "submit")), 0, 1800, 4, 1))
		}
		byHour, byDay := rates(jobs, origin)
		var wantHour [24]rate
		var wantDay [7]rate
		first, last := jobs[0].Submit, jobs[0].Submit
		for _, j := range jobs {
			first, last = min(first, j.Submit), max(last, j.Submit)
			at := origin.Add(time.Duration(j.Submit/s) * time.Second)
			wantHour[at.Hour()].jobs++
			wantDay[at.Weekday()].jobs++
		}
		for x := first; x < last; x += 60 * s {
			at := origin.Add(time.Duration(x/s) * time.Second)
			wantHour[at.Hour()].hours += 1.0 / 60
			wantDay[at.Weekday()].hours += 1.0 / 60
		}
		for h, r := range byHour {
			require.Equal(t, wantHour[h].jobs, r.jobs)
			require.InDelta(t, 2*wantHour[h].jobs, r.work, 1e-9) // 4 processors for half an hour
			require.InDelta(t, wantHour[h].hours, r.hours, 1e-6)
		}
		for d, r := range byDay {
			require.Equal(t, wantDay[d].jobs, r.jobs)
			require.InDelta(t, wantDay[d].hours, r.hours, 1e-6)
		}
	})
}

func TestAccuraciesFallIntoTwentieths(t *testing.T) {
	job := func(runtime, estimate des.Time) rows.Job { return rows.Job{Runtime: runtime, Estimate: estimate} }
	counted, n := accuracies([]rows.Job{
		job(0, 100), job(5, 100), job(6, 100), job(10, 100), job(100, 100), job(96, 100), job(95, 100), job(101, 100),
		job(rows.None, 100), job(5, rows.None), job(5, 0),
	}, accuracyBins)
	require.Equal(t, 8, n)
	require.Equal(t, []int{0: 2, 1: 2, 18: 1, 19: 2, 20: 1}, counted)
}

func TestMeanPricesAreThoseOfEachOwnersNodesAtTheTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var told []rows.Price
		nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
		owner := func(n int) string { return []string{"a", "b"}[n%2] }
		for n := range nodes {
			told = append(told, rows.Price{Node: int64(n), Owner: owner(n), Price: float64(rapid.IntRange(1, 9).Draw(t, "price"))})
			for at := range rapid.IntRange(0, 4).Draw(t, "changes") {
				told = append(told, rows.Price{Time: des.Time(at+1) * s, Node: int64(n), Owner: owner(n), Price: float64(rapid.IntRange(1, 9).Draw(t, "price"))})
			}
		}
		check := func(most int, belongs func(rows.Price, string) bool) {
			owners, prices := meanPrices(told, most)
			for k, name := range owners {
				for at := range 5 {
					now, got := map[int64]float64{}, 0.0
					for _, r := range told {
						if belongs(r, name) && r.Time <= des.Time(at)*s {
							now[r.Node] = r.Price
						}
					}
					sum := 0.0
					for _, p := range now {
						sum += p
					}
					for _, c := range prices[k] {
						if c.at <= float64(at) {
							got = c.value
						}
					}
					require.InDelta(t, sum/float64(len(now)), got, 1e-9)
				}
			}
		}
		check(2, func(r rows.Price, name string) bool { return r.Owner == name })
		check(0, func(r rows.Price, name string) bool { return name == "" })
	})
}

func TestCapacityInServiceFallsAndComesBack(t *testing.T) {
	got := inService([]rows.Outage{
		{From: 10 * s, To: 30 * s, Processors: 4}, {From: 20 * s, To: des.Forever, Processors: 1}, {From: 30 * s, To: 40 * s, Processors: 2}, {From: 5 * s, To: 5 * s, Processors: 9},
	}, 10)
	require.Equal(t, []change{{0, 10}, {10, 6}, {20, 5}, {30, 7}, {40, 9}}, got)
}

func TestTheLargestSliceIsTheOneWithMostJobsAndAFront(t *testing.T) {
	row := func(at des.Time, slice, jobs, point int) rows.Combination {
		return rows.Combination{PlannedAt: at * s, Slice: slice, Jobs: jobs, Point: point}
	}
	all := []rows.Combination{
		row(0, 1, 5, 0), row(0, 1, 5, 1), row(0, 1, 5, 2), row(0, 2, 9, 0), row(0, 2, 9, 1), row(600, 1, 7, 1), row(600, 1, 7, 2), row(1200, 1, 7, 1), row(1200, 1, 7, 2),
	}
	require.Equal(t, all[5:7], largestSlice(all))
	require.Nil(t, largestSlice(all[3:5]))
}

func TestDurationsHaveAPlaceFromZeroOn(t *testing.T) {
	scale := durationScale{}
	require.Equal(t, []float64{0, 0.5, 1, 2, 3}, []float64{scale.place(0), scale.place(5), scale.place(10), scale.place(100), scale.place(1000)})
	require.Equal(t, 0.0, scale.Normalize(0, 1000, 0))
	require.InDelta(t, 2.0/3, scale.Normalize(0, 1000, 100), 1e-12)
	require.Equal(t, 1.0, scale.Normalize(0, 1000, 1000))
}

func TestAxesOfFewPowersHaveTicksBetween(t *testing.T) {
	labels := func(ticks []plot.Tick) (all []string) {
		for _, t := range ticks {
			all = append(all, t.Label)
		}
		return all
	}
	require.Equal(t, []string{"1", "2", "5", "10", "20"}, labels(powersOfTen(1, 40)))
	require.Equal(t, []string{"1", "10", "100", "1000"}, labels(powersOfTen(1, 4000)))
	require.Equal(t, []string{"5 min", "10 min", "20 min", "1 h"}, labels(durationTicks(300, 4000)))
	require.Equal(t, []string{"0", "10 s", "1 min", "10 min"}, labels(durationTicks(0, 3000)))
}

func TestTicksAreAtRoundValuesWithinTheAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		hi := lo + math.Pow(10, rapid.Float64Range(-2, 7).Draw(t, "length"))
		ticks := decimalTicks(lo, hi)
		require.GreaterOrEqual(t, len(ticks), 2)
		require.LessOrEqual(t, len(ticks), 6)
		for _, tick := range ticks {
			require.True(t, tick.Value >= lo-1e-6*(hi-lo) && tick.Value <= hi+1e-6*(hi-lo))
		}
		top := niceAbove(hi - lo)
		require.True(t, top >= (hi-lo)*(1-1e-9) && top <= 1.5*(hi-lo))
	})
	for v, want := range map[float64]string{0: "0", 2.5: "2.5", 9999: "9999", 25000: "25 k", 2.5e6: "2.5 M", -3e9: "-3 G"} {
		require.Equal(t, want, short(v))
	}
}

func TestStepsKeepAValueUntilTheNext(t *testing.T) {
	require.Equal(t, points{{X: 0, Y: 1}, {X: 5, Y: 1}, {X: 5, Y: 3}}, steps(points{plotter.XY{X: 0, Y: 1}, {X: 5, Y: 3}}))
}

func TestPredictionsAreCountedAgainstRuntimes(t *testing.T) {
	job := func(runtime, prediction, estimate des.Time, state rows.State) rows.Job {
		return rows.Job{Runtime: runtime * s, Prediction: prediction * s, Estimate: estimate * s, State: state}
	}
	unknown := job(5, 5, 5, rows.Finished)
	unknown.Prediction = rows.None
	counts, most := density([]rows.Job{
		job(100, 10, 200, rows.Finished), job(120, 11, 200, rows.Finished), // 2 and 2.08 decades, 1 and 1.04
		job(500, 10, 100, rows.Walltime), // cut off at 100
		job(100, 10, 200, rows.Killed), job(100, 10, 200, rows.Rejected), unknown,
		job(9, 1000, 2000, rows.Finished),
	})
	require.Equal(t, map[[2]int]int{{12, 6}: 3, {5, 18}: 1}, counts)
	require.Equal(t, 3, most)
	require.InDelta(t, 100, edge(12), 1e-9)
	require.InDelta(t, 5, edge(3), 1e-9)
}

func TestErrorsStandAtTheirClasses(t *testing.T) {
	errors, slowdowns := accuracyPoints([]rows.Accuracy{
		{By: "all", MeanAbsoluteError: 7, MeanBoundedSlowdown: 7}, {By: "request", Class: "60", MeanAbsoluteError: 7},
		{By: "runtime", Class: "60", MeanAbsoluteError: 1}, {By: "runtime", Class: "14400", MeanAbsoluteError: 2}, {By: "runtime", Class: "inf", MeanAbsoluteError: 3},
		{By: "side", Class: "under", MeanBoundedSlowdown: 4}, {By: "side", Class: "exact", MeanBoundedSlowdown: 5},
	})
	require.Equal(t, points{{X: 0, Y: 1}, {X: 4, Y: 2}, {X: 7, Y: 3}}, errors)
	require.Equal(t, points{{X: 2, Y: 4}, {X: 1, Y: 5}}, slowdowns)
}

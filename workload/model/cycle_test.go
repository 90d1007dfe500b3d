package model

import (
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func clockOf(t require.TestingT, c Cycle) func(float64) float64 {
	at, err := c.clock()
	require.NoError(t, err)
	return at
}

// The definition, ten minutes at a time: what has passed for the model by an instant is the
// sum of the weights up to it.
func TestTheClockOfACycleIsTheInverseOfTheSumOfItsWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(0, 8).Draw(t, "weight"))
		})
		c := Cycle{
			Day:  rapid.SliceOfN(weight, 24, 24).Draw(t, "day"),
			Week: rapid.SliceOfN(weight, 7, 7).Draw(t, "week"),
		}
		if c.Check() != nil {
			return
		}
		at := clockOf(t, c)
		var sum float64
		for day := range 7 {
			for hour := range 24 {
				sum += c.Day[hour] * c.Week[day] / (7 * 24)
			}
		}
		model, before := 0.0, 0.0
		for i := range 2 * 7 * 24 * 6 {
			hour := i / 6
			w := c.Day[hour%24] * c.Week[hour/24%7] / sum
			if w > 0 { // the middle of the ten minutes, from what has passed for the model
				got := at(model + w*300)
				require.InDelta(t, float64(i)*600+300, got, 1e-3)
				require.GreaterOrEqual(t, got, before)
				before = got
			}
			model += w * 600
		}
		require.InEpsilon(t, 2*7*86400.0, model, 1e-9, "two weeks take two weeks")
	})
}

func TestNothingComesWhereTheWeightIsZeroNotEvenAtItsBeginning(t *testing.T) {
	at := clockOf(t, Cycle{Day: []float64{1, 0, 1}})
	require.Equal(t, 16*3600.0, at(12*3600), "eight o'clock has a weight of 0")
	require.Equal(t, 0.0, at(0))
}

func TestNoCycleLeavesArrivalsAlone(t *testing.T) {
	at, err := (*Cycle)(nil).clock()
	require.NoError(t, err)
	require.Equal(t, 123.456, at(123.456))
	even := clockOf(t, Cycle{})
	require.InDelta(t, 123456.789, even(123456.789), 1e-6)
}

func TestTheClockOfACycleNeverGoesBackwards(t *testing.T) {
	at := clockOf(t, Cycle{Day: []float64{0, 1e-9, 3, 0.1, 7, 0, 1e-3, 2}, Week: []float64{1, 0, 1e-6, 2, 3, 4, 0}})
	r, now, before := des.NewStream(1, 0, "gaps"), 0.0, 0.0
	for range 200_000 {
		now += 150 * r.ExpFloat64()
		got := at(now)
		require.GreaterOrEqual(t, got, before)
		before = got
	}
}

// byHour are the shares of submissions, by hour of the day and by day of the week.
func byHour(jobs iter.Seq[*entity.Job]) (hours [24]float64, days [7]float64, span float64) {
	n := 0.0
	for j := range jobs {
		n++
		hours[j.Submit/des.Hour%24]++
		days[j.Submit/des.Day%7]++
		span = j.Submit.Seconds()
	}
	for i := range hours {
		hours[i] /= n
	}
	for i := range days {
		days[i] /= n
	}
	return hours, days, span
}

var office = Cycle{
	Day:  []float64{1, 1, 1, 1, 1, 1, 1, 2, 5, 9, 10, 9, 8, 9, 10, 10, 8, 5, 3, 2, 2, 2, 1, 1},
	Week: []float64{5, 5, 5, 5, 5, 1, 0},
}

// firstRuns is a model of Feitelson whose jobs run once: a cycle says when jobs come for the first
// time, and the runs of one job come among the runs of others.
type firstRuns struct{ Feitelson }

func (m firstRuns) Jobs(n int64) (iter.Seq[*entity.Job], error) {
	runs, err := m.Feitelson.Jobs(4 * n) // a job has two runs in the mean
	type run struct {
		submit, runtime des.Time
		nodes           int
	}
	return func(yield func(*entity.Job) bool) {
		again := map[run]bool{} // the runs that may follow those before
		left := n
		for j := range runs {
			this := run{j.Submit, j.Runtime, j.Request.Nodes}
			known := again[this]
			delete(again, this)
			again[run{j.Submit + j.Runtime, j.Runtime, j.Request.Nodes}] = true
			if known {
				continue
			}
			if left--; left < 0 || !yield(j) {
				return
			}
		}
	}, err
}

// with is a model with a cycle, or without.
func with(cycle *Cycle) map[string]generator {
	return map[string]generator{
		"lublin":    Lublin{Cycle: cycle},
		"downey":    Downey{MeanGap: 600, Cycle: cycle},
		"feitelson": firstRuns{Feitelson{MeanGap: 600, TimeUnit: 600, Cycle: cycle}},
		"jann": Jann{Cycle: cycle, Ranges: []JannRange{
			{Sizes: []sizeCount{{1, 1}}, Gap: HyperErlang{P: 0.5, Order: 1, Rate1: 1.0 / 300, Rate2: 1.0 / 1500}, Run: HyperErlang{P: 1, Order: 1, Rate1: 1, Rate2: 1}},
			{Sizes: []sizeCount{{2, 1}, {4, 2}}, Gap: HyperErlang{P: 1, Order: 3, Rate1: 1.0 / 600, Rate2: 1}, Run: HyperErlang{P: 1, Order: 1, Rate1: 1, Rate2: 1}},
		}},
		"renewal":  Renewal{Size: Constant(1), Run: Exponential{Scale: 300}, MeanGap: 600, Cycle: cycle},
		"sessions": Sessions{Size: Constant(1), Run: Constant(1), MeanGap: 1200, Batches: Constant(1), BatchJobs: Constant(2), Interval: Constant(0), Cycle: cycle},
	}
}

func TestACycleIsPutOverTheArrivalsOfEveryModel(t *testing.T) {
	const n = 100_000
	plain := with(nil)
	for name, m := range with(&office) {
		jobs, err := m.Jobs(n)
		require.NoError(t, err)
		hours, days, span := byHour(jobs)
		within := 0.005
		if name == "lublin" {
			within = 0.02 // bursts
		}
		for h, w := range office.Day {
			require.InDelta(t, w/103, hours[h], within, "%s at %d h", name, h)
		}
		for d, w := range office.Week {
			require.InDelta(t, w/26, days[d], 2*within, "%s on day %d", name, d)
		}
		require.Zero(t, days[6], "nobody on Sundays")

		even, err := plain[name].Jobs(n)
		require.NoError(t, err)
		_, _, plainSpan := byHour(even)
		require.InDelta(t, plainSpan, span, 4*86400, "%s: the mean rate stays", name)
		next, stop := iter.Pull(even)
		defer stop()
		for j := range jobs {
			if e, _ := next(); e.Runtime != j.Runtime || e.Request.Nodes != j.Request.Nodes {
				t.Fatalf("%s: %v is another job under a cycle: %v", name, e, j)
			}
		}
	}
}

func TestALoadLeavesTheHoursOfACycleAlone(t *testing.T) {
	m := with(&office)["jann"].(Jann)
	m.Load, m.Processors = 0.002, 128
	require.NotEqual(t, m.Load, m.offeredLoad(128))
	for _, m := range []generator{
		m,
		Renewal{Size: Constant(1), Run: Constant(60), Gap: Exponential{Scale: 1}, Load: 0.001, Cycle: &office},
	} {
		jobs, err := m.Jobs(50_000)
		require.NoError(t, err)
		hours, days, _ := byHour(jobs)
		for h, w := range office.Day {
			require.InDelta(t, w/103, hours[h], 0.008, "%T at %d h", m, h)
		}
		require.Zero(t, days[6])
	}
}

func TestLublinsOwnDayStaysUnderDaysOfTheWeek(t *testing.T) {
	own, err := Lublin{}.Jobs(100_000)
	require.NoError(t, err)
	weekly, err := Lublin{Cycle: &Cycle{Week: []float64{2, 2, 2, 2, 2, 1, 1}}}.Jobs(100_000)
	require.NoError(t, err)
	hours, _, _ := byHour(own)
	same, days, _ := byHour(weekly)
	for h := range hours {
		require.InDelta(t, hours[h], same[h], 0.006, "at %d h", h)
	}
	require.InDelta(t, 1.0/12, days[5], 0.012)
	require.InDelta(t, 2.0/12, days[2], 0.02)
}

func TestACycleIsFittedToALog(t *testing.T) {
	jobs, err := Renewal{Size: Constant(1), Run: Constant(1), MeanGap: 60, Cycle: &office}.Jobs(200_000)
	require.NoError(t, err)
	// The log begins at noon of a Wednesday, in a zone two hours east of Greenwich.
	zone := time.FixedZone("east", 2*3600)
	begin := time.Date(2024, time.January, 3, 12, 0, 0, 0, zone)
	late := func(yield func(*entity.Job) bool) {
		for j := range jobs { // Monday midnight of the cycle is 4.5 days after that
			j.Submit += 4*des.Day + 12*des.Hour
			if !yield(j) {
				return
			}
		}
	}
	c, err := FitCycle(late, begin)
	require.NoError(t, err)
	require.NoError(t, c.Check())
	share := func(weights []float64, i int) float64 {
		var sum float64
		for _, w := range weights {
			sum += w
		}
		return weights[i] / sum
	}
	for i, w := range office.Day {
		require.InDelta(t, w/103, share(c.Day, i), 0.003, "at %d h", i)
	}
	for i, w := range office.Week {
		require.InDelta(t, w/26, share(c.Week, i), 0.006, "on day %d", i)
	}

	short := func(yield func(*entity.Job) bool) {
		_ = yield(&entity.Job{}) && yield(&entity.Job{Submit: 6 * des.Day})
	}
	_, err = FitCycle(short, begin)
	require.ErrorContains(t, err, "over a week")
	_, err = FitCycle(slices.Values([]*entity.Job{}), begin)
	require.Error(t, err)
	long := func(yield func(*entity.Job) bool) {
		_ = yield(&entity.Job{}) && yield(&entity.Job{Submit: 1e6 * des.Day})
	}
	_, err = FitCycle(long, begin)
	require.ErrorContains(t, err, "200 years")
}

// A log of ten days has two Mondays and one Thursday: each counts by how often it was
// there.
func TestDaysOfALogCountByHowOftenTheyWereThere(t *testing.T) {
	c, err := FitCycle(func(yield func(*entity.Job) bool) {
		for h := range 10*24 + 1 {
			if !yield(&entity.Job{Submit: des.Time(h) * des.Hour}) {
				return
			}
		}
	}, time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	for _, w := range c.Week {
		require.InDelta(t, 1, w, 0.05)
	}
	for _, w := range c.Day {
		require.InDelta(t, 1, w, 0.11)
	}
}

func TestACycleThatMakesNoSenseIsRefused(t *testing.T) {
	for want, c := range map[string]Cycle{
		"cut into 7 equal": {Day: make([]float64, 7)},
		"7, not 5":         {Week: make([]float64, 5)},
		"all weights":      {Day: make([]float64, 24)},
		"not NaN":          {Week: []float64{1, 1, 1, math.NaN(), 1, 1, 1}},
		"not +Inf":         {Day: []float64{math.Inf(1)}},
	} {
		require.ErrorContains(t, c.Check(), want)
	}
	for _, m := range with(&Cycle{Day: make([]float64, 7)}) {
		require.ErrorContains(t, refusal(m), "cut into 7", "%T", m)
	}
}

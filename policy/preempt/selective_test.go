package preempt

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

func TestUnderAFactorOfOneAShortJobTakesAFullMachineAtOnce(t *testing.T) {
	long, short := job(1, 0, des.Hour, 8), job(2, 10*des.Minute, des.Minute, 8)
	runs := simulate(t, Selective{Factor: 1}, entity.PassInstant, 8, long, short)
	require.Equal(t, 10*des.Minute, runs[1].Start)
	require.Equal(t, 61*des.Minute, runs[0].Finish)
	require.Len(t, runs[0].Earlier(), 1)
}

func TestAShortJobHasALongOneYieldWhenItHasWaitedForItsLengthTimesTheFactorLessOne(t *testing.T) {
	for _, factor := range []float64{1.5, 2, 5} {
		long, short := job(1, 0, des.Hour, 8), job(2, 10*des.Minute, des.Minute, 8)
		runs := simulate(t, Selective{Factor: factor}, entity.PassInstant, 8, long, short)
		require.Equal(t, 10*des.Minute+des.Seconds(60*(factor-1)), runs[1].Start)
	}
}

// The k-th time that one of two equal jobs of length 1 yields, the one that runs has
// done s^k - 1 and the other s^(k-1) - 1.
func TestTwoEqualJobsYieldWhenTheClosedFormulaSaysSo(t *testing.T) {
	const length = des.Hour
	for n := 0; n < 6; n++ {
		low := math.Pow(2, 1/float64(n+1))
		for _, s := range []float64{low + 1e-6, low + 0.01} {
			runs := simulate(t, Selective{Factor: s, Slice: des.Tick}, entity.PassInstant, 1, job(1, 0, length, 1), job(2, 0, length, 1))
			list := spans(runs)
			require.Len(t, list, n+2, "factor %v", s)
			for k, a := range list[:n] {
				end := length.Seconds() * (math.Pow(s, float64(k+1)) + math.Pow(s, float64(k)) - 2)
				require.InDelta(t, end, des.Time(a.to).Seconds(), 1e-5, "factor %v", s)
			}
		}
	}
}

func TestAWideJobDoesNotYieldToANarrowOne(t *testing.T) {
	for width, yields := range map[float64]bool{0: false, 0.25: true, -1: true} {
		runs := simulate(t, Selective{Width: width}, entity.PassInstant, 8, job(1, 0, des.Hour, 8), job(2, 0, des.Minute, 2))
		require.Equal(t, yields, len(runs[0].Earlier()) > 0, "width %v", width)
	}
}

func TestRequeuedWorkIsDoneAgainAndWhatResumingCostsIsAdded(t *testing.T) {
	for _, c := range []struct {
		policy Selective
		finish des.Time
	}{
		{Selective{}, 61 * des.Minute},
		{Selective{Cost: 10 * des.Second}, 61*des.Minute + 10*des.Second},
		{Selective{Keep: KeepNone}, 63 * des.Minute}, // it had run for two minutes
		{Selective{Keep: KeepCheckpoint}, 63 * des.Minute},
	} {
		runs := simulate(t, c.policy, entity.PassInstant, 8, job(1, 0, des.Hour, 8), job(2, des.Minute, des.Minute, 8))
		require.Equal(t, 2*des.Minute, runs[1].Start)
		require.Equal(t, c.finish, runs[0].Finish, "%+v", c.policy)
	}
}

func TestAJobGoesOnFromItsCheckpointWhereItHasOne(t *testing.T) {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), Selective{Keep: KeepCheckpoint})
	m.Checkpoints = entity.Checkpoints{Interval: 90 * des.Second}
	long := m.Submit(job(1, 0, des.Hour, 1))
	m.Submit(job(2, des.Minute, des.Minute, 1))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 61*des.Minute+30*des.Second, long.Finish)
}

func TestSettingsThatWouldGoOnForEverAreRefused(t *testing.T) {
	for _, p := range []Selective{{Factor: 1, Keep: KeepNone}, {Factor: 1, Keep: KeepCheckpoint}, {Factor: 0.5}, {Factor: math.NaN()}, {Factor: math.Inf(1)}, {Slice: -1}, {Cost: -1}} {
		require.Error(t, p.Check(), "%+v", p)
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(1), p)
		m.Submit(job(1, 0, 1, 1))
		require.Error(t, sim.Run(context.Background()), "%+v", p)
	}
	require.NoError(t, Selective{Factor: 1}.Check())
	require.NoError(t, Selective{Factor: 1.1, Keep: KeepNone}.Check())
}

// defined is the policy by its definition: every tick looked at, every waiting job
// tried, in exact fractions.
type defined struct {
	Selective
	processors int
	jobs       []*life
	seq        int // of starts
	list       []span
}

type life struct {
	*entity.Job
	done, waited  des.Time
	since         des.Time // it waits, or runs
	setUp         des.Time
	order         int
	running, over bool
}

func (d *defined) xfactor(j *life, now des.Time) *big.Rat {
	wait := j.waited
	if !j.running {
		wait += now - j.since
	}
	return big.NewRat(int64(wait+j.Request.Length), int64(j.Request.Length))
}

func (d *defined) free() int {
	free := d.processors
	for _, j := range d.jobs {
		if j.running {
			free -= j.Request.Nodes
		}
	}
	return free
}

func (d *defined) start(j *life, now des.Time) {
	d.seq++
	j.running, j.order, j.waited, j.since = true, d.seq, j.waited+now-j.since, now
}

func (d *defined) stop(j *life, now des.Time) {
	d.list = append(d.list, span{j.ID, int64(j.since), int64(now)})
	if d.Keep == KeepAll {
		j.done += now - j.since - j.setUp
	} else {
		j.waited += now - j.since
	}
	j.running, j.since, j.setUp = false, now, d.Cost
}

func (d *defined) look(now des.Time) {
	factor := new(big.Rat).SetFloat64(d.Factor)
	tried := map[*life]bool{}
	for {
		var next *life
		for _, j := range d.jobs { // in order of submission
			if j.Submit <= now && !j.running && !j.over && !tried[j] && (next == nil || d.xfactor(j, now).Cmp(d.xfactor(next, now)) > 0) {
				next = j
			}
		}
		if next == nil {
			return
		}
		tried[next] = true
		need := next.Request.Nodes - d.free()
		if need <= 0 {
			d.start(next, now)
			continue
		}
		var yield []*life
		for _, v := range d.jobs {
			high := new(big.Rat).Mul(factor, d.xfactor(v, now))
			least := d.Slice + v.setUp
			if v.running && now-v.since >= least && d.xfactor(next, now).Cmp(high) >= 0 && 2*next.Request.Nodes >= v.Request.Nodes {
				yield = append(yield, v)
			}
		}
		slices.SortFunc(yield, func(a, b *life) int {
			if c := d.xfactor(a, now).Cmp(d.xfactor(b, now)); c != 0 {
				return c
			}
			return b.order - a.order
		})
		n := 0
		for _, v := range yield {
			if need > 0 {
				need -= v.Request.Nodes
				n++
			}
		}
		if need > 0 {
			continue
		}
		for _, v := range yield[:n] {
			if need+v.Request.Nodes <= 0 {
				need += v.Request.Nodes // it need not go
			} else {
				d.stop(v, now)
			}
		}
		d.start(next, now)
		clear(tried)
	}
}

func (d *defined) run() []span {
	for now, left := des.Time(0), len(d.jobs); left > 0; now++ {
		for _, j := range d.jobs {
			if j.running && now-j.since == j.setUp+j.Runtime-j.done {
				j.running, j.over = false, true
				d.list = append(d.list, span{j.ID, int64(j.since), int64(now)})
				left--
			}
		}
		d.look(now)
	}
	slices.SortFunc(d.list, func(a, b span) int {
		if a.from != b.from {
			return int(a.from - b.from)
		}
		return int(a.id - b.id)
	})
	return d.list
}

func TestSelectivePreemptionIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Selective{
			Factor: rapid.SampledFrom([]float64{1, 1.25, 1.5, 2, 3}).Draw(t, "factor"),
			Slice:  des.Time(rapid.IntRange(1, 4).Draw(t, "slice")),
			Cost:   des.Time(rapid.IntRange(0, 2).Draw(t, "cost")),
		}
		if p.Factor > 1 && rapid.Bool().Draw(t, "requeue") {
			p.Keep = KeepNone
		}
		d := &defined{Selective: p, processors: rapid.IntRange(1, 8).Draw(t, "processors")}
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range rapid.IntRange(1, 9).Draw(t, "jobs") {
			at += des.Time(rapid.IntRange(0, 5).Draw(t, "gap"))
			j := job(int64(id), at, des.Time(rapid.IntRange(1, 15).Draw(t, "runtime")), rapid.IntRange(1, d.processors).Draw(t, "nodes"))
			j.Request.Length += des.Time(rapid.IntRange(0, 1).Draw(t, "over") * rapid.IntRange(0, 15).Draw(t, "slack"))
			jobs = append(jobs, j)
			d.jobs = append(d.jobs, &life{Job: j, since: at})
		}
		require.Equal(t, d.run(), spans(simulate(t, p, entity.PassInstant, d.processors, jobs...)))
	})
}

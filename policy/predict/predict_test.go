package predict_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/predict"
)

// told keeps what a predictor says.
type told struct {
	entity.Predictor
	first       map[int64]des.Time
	corrections map[int64][]des.Time
}

func (t *told) Predict(j entity.Known) des.Time {
	p := t.Predictor.Predict(j)
	t.first[j.ID()] = p
	return p
}

func (t *told) Correct(j entity.Known) des.Time {
	c := t.Predictor.(entity.Corrector).Correct(j)
	t.corrections[j.ID()] = append(t.corrections[j.ID()], c)
	return c
}

// job is one of a user who asks for so many seconds on so many processors.
func job(user int32, nodes int, asks, runs des.Time) *entity.Job {
	return &entity.Job{User: user, Group: -1, Queue: -1, Runtime: runs * des.Second, Request: entity.Request{Nodes: nodes, Length: asks * des.Second}}
}

// inTurn runs jobs one after the other: each comes when the one before has ended.
func inTurn(t require.TestingT, p entity.Predictor, jobs ...*entity.Job) *told {
	sim := des.New(des.Config{})
	seen := &told{p, map[int64]des.Time{}, map[int64][]des.Time{}}
	meta := entity.NewMetascheduler(sim, plan.NewCluster(64), backfill.EASY{})
	if _, corrects := p.(entity.Corrector); corrects {
		meta.Predictor = seen
	} else {
		meta.Predictor = struct{ entity.Predictor }{seen}
	}
	at := des.Time(0)
	for i, j := range jobs {
		j.ID, j.Submit = int64(i+1), at
		at += j.Request.Length + des.Second
	}
	meta.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	return seen
}

func seconds(times ...des.Time) []des.Time {
	for i := range times {
		times[i] *= des.Second
	}
	return times
}

func TestRecentKnowsNothingOfAUserOfWhomFewerJobsHaveEnded(t *testing.T) {
	got := inTurn(t, &predict.Recent{},
		job(1, 1, 100, 10), job(1, 1, 100, 21), job(2, 1, 100, 50), job(1, 1, 100, 60), job(1, 1, 100, 1), job(1, 1, 20, 20), job(2, 1, 100, 1))
	require.Equal(t, map[int64]des.Time{1: 0, 2: 0, 3: 0, 4: 15 * des.Second, 5: 40 * des.Second, 6: 20 * des.Second, 7: 0}, got.first)
}

func TestRecentTakesTheMedianOfTheLatest(t *testing.T) {
	got := inTurn(t, &predict.Recent{K: 3, Of: predict.Median},
		job(1, 1, 100, 90), job(1, 1, 100, 10), job(1, 1, 100, 30), job(1, 1, 100, 20), job(1, 1, 100, 1))
	require.Equal(t, seconds(30, 20), []des.Time{got.first[4], got.first[5]})
	even := inTurn(t, &predict.Recent{K: 2, Of: predict.Median}, job(1, 1, 100, 10), job(1, 1, 100, 31), job(1, 1, 100, 1))
	require.Equal(t, 20*des.Second, even.first[3], "in whole time units")
}

func TestJobsOfUnknownUsersAreThoseOfOneUserToRecent(t *testing.T) {
	got := inTurn(t, &predict.Recent{}, job(-1, 1, 100, 10), job(-1, 1, 100, 20), job(-1, 1, 100, 1))
	require.Equal(t, 15*des.Second, got.first[3])
}

func TestAPredictionIsASecondAtLeastButNeverAboveTheRequest(t *testing.T) {
	for _, p := range []func() entity.Predictor{
		func() entity.Predictor { return &predict.Recent{} },
		func() entity.Predictor { return &predict.Similar{} },
	} {
		none := job(1, 1, 100, 0)
		short := job(1, 1, 100, 0)
		short.Runtime = 1000 * des.Tick
		tiny := job(1, 1, 100, 0)
		tiny.Request.Length = 1000 * des.Tick
		got := inTurn(t, p(), none, short, job(1, 1, 100, 5), tiny)
		require.Equal(t, des.Second, got.first[3], "after runtimes of nothing")
		require.Equal(t, 1000*des.Tick, got.first[4])
	}
}

func TestWhoIsKilledAtTheRequestCountsAndWhoIsKilledBeforeDoesNot(t *testing.T) {
	for _, p := range []entity.Predictor{&predict.Recent{K: 1}, &predict.Similar{}} {
		sim := des.New(des.Config{})
		seen := &told{p, map[int64]des.Time{}, map[int64][]des.Time{}}
		meta := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.EASY{})
		meta.Predictor = seen
		jobs := []*entity.Job{job(1, 1, 50, 70), job(1, 1, 50, 70), job(1, 1, 90, 90), job(1, 1, 90, 90), job(1, 1, 90, 9)}
		for i, at := range []des.Time{0, 100, 200, 300, 400} {
			jobs[i].ID, jobs[i].Submit = int64(i+1), at*des.Second
		}
		var runs []*entity.Run
		for _, j := range jobs {
			runs = append(runs, meta.Submit(j))
		}
		sim.At(220*des.Second, 0, handler(func() { require.True(t, meta.Kill(runs[2], "by an outage")) }), 0)
		sim.At(250*des.Second, 0, handler(func() { require.True(t, meta.Cancel(runs[3], "by its user")) }), 0)
		require.NoError(t, sim.Run(context.Background()))
		require.Equal(t, 50*des.Second, seen.first[3], p.Name())
		require.Equal(t, 50*des.Second, seen.first[5], p.Name())
	}
}

type handler func()

func (h handler) Handle(*des.Simulator, des.Event) { h() }

func TestAMultipleOfTheRequestIsPlannedAndTheJobIsKilledAtTheRequest(t *testing.T) {
	got := inTurn(t, predict.Request{Factor: 2}, job(1, 1, 100, 150))
	require.Equal(t, 200*des.Second, got.first[1])
	require.Equal(t, 50*des.Second, inTurn(t, predict.Request{Factor: 0.5}, job(1, 1, 100, 20)).first[1])
	require.Equal(t, 100*des.Second, inTurn(t, predict.Request{}, job(1, 1, 100, 20)).first[1])
	require.Positive(t, inTurn(t, predict.Request{Factor: math.MaxFloat64}, job(1, 1, 100, 20)).first[1])
	require.Equal(t, des.Tick, inTurn(t, predict.Request{Factor: 1e-300}, job(1, 1, 100, 20)).first[1])
}

// corrected are the corrections of a job whose first prediction is 100 s.
func corrected(t *testing.T, by entity.Corrector, asks, runs des.Time) (all []des.Time) {
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.EASY{})
	meta.Predictor, meta.Corrector = predict.Request{Factor: 100 / float64(asks)}, asked{by, &all}
	r := meta.Submit(job(1, 1, asks, runs))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, min(asks, runs)*des.Second, r.Finish)
	return all
}

type asked struct {
	entity.Corrector
	all *[]des.Time
}

func (a asked) Correct(j entity.Known) des.Time {
	c := a.Corrector.Correct(j)
	*a.all = append(*a.all, c)
	return c
}

func TestCorrectionsAreThoseOfTheirLists(t *testing.T) {
	const day = 86_400
	require.Equal(t, seconds(150_000), corrected(t, predict.ToRequest{}, 150_000, 100_000))
	require.Equal(t, seconds(150_000), corrected(t, predict.Own{}, 150_000, 100_000))
	require.Equal(t, seconds(160, 400, 1_000, 1_900, 3_700, 7_300, 18_100, 36_100, 72_100, 180_100, 360_100, 20*day), corrected(t, predict.Tsafrir{}, 20*day, 19*day))
	require.Equal(t, seconds(160, 400, 500), corrected(t, predict.Tsafrir{}, 500, 499))
	require.Equal(t, seconds(200, 400, 800, 1_600), corrected(t, predict.Doubling{}, 1_500, 1_500))
	require.Equal(t, seconds(200, 400, 800, 1_500), corrected(t, predict.Doubling{Capped: true}, 1_500, 1_400))
}

func TestSimilarTakesTheTightestCategory(t *testing.T) {
	by := []predict.Template{predict.User, predict.Length}
	got := inTurn(t, &predict.Similar{Templates: by},
		job(1, 1, 100, 10), job(1, 1, 1000, 500), job(2, 1, 100, 12), job(1, 1, 100, 1), job(1, 1, 1000, 1))
	require.Equal(t, seconds(0, 10, 100, 11, 170), []des.Time{got.first[1], got.first[2], got.first[3], got.first[4], got.first[5]})
}

func TestOfEquallyTightCategoriesTheEarlierOnePredicts(t *testing.T) {
	jobs := func() []*entity.Job {
		return []*entity.Job{job(1, 1, 100, 10), job(1, 1, 100, 10), job(2, 1, 1000, 30), job(2, 1, 1000, 30), job(1, 1, 1000, 1)}
	}
	byUser := inTurn(t, &predict.Similar{Templates: []predict.Template{predict.User, predict.Length}}, jobs()...)
	require.Equal(t, 10*des.Second, byUser.first[5])
	byLength := inTurn(t, &predict.Similar{Templates: []predict.Template{predict.Length, predict.User}}, jobs()...)
	require.Equal(t, 30*des.Second, byLength.first[5])
}

func TestWhatIsUnknownOfAJobMakesItSimilarToNone(t *testing.T) {
	for _, by := range []predict.Template{predict.User, predict.Group, predict.Queue, predict.Application} {
		jobs := []*entity.Job{job(-1, 1, 100, 10), job(-1, 1, 100, 10), job(3, 1, 100, 40), job(-1, 1, 100, 1)}
		jobs[2].Group, jobs[2].Queue, jobs[2].Application = 3, 3, 3
		require.Equal(t, 20*des.Second, inTurn(t, &predict.Similar{Templates: []predict.Template{by}}, jobs...).first[4], "%v: the mean of all", by)
	}
}

func TestSimilarCorrectsByJobsThatRanForLonger(t *testing.T) {
	before := func() []*entity.Job {
		return []*entity.Job{job(1, 1, 10_000, 100), job(1, 1, 10_000, 100), job(1, 1, 10_000, 1_000), job(1, 1, 10_000, 3_000), job(1, 1, 10_000, 100), job(1, 1, 10_000, 9_000)}
	}
	by := []predict.Template{predict.User}
	mean := inTurn(t, &predict.Similar{Templates: by}, before()...)
	require.Equal(t, seconds(860), []des.Time{mean.first[6]})
	require.Equal(t, seconds(2_000, 10_000), mean.corrections[6], "of 1,000 and 3,000; then there is only one")
	median := inTurn(t, &predict.Similar{Templates: by, Q: 0.5}, before()...)
	require.Equal(t, 100*des.Second, median.first[6])
	require.Equal(t, seconds(1_000, 10_000), median.corrections[6])
	tight := inTurn(t, &predict.Similar{Templates: by, Q: 0.5}, job(1, 1, 500, 100), job(1, 1, 500, 101), job(1, 1, 500, 102), job(1, 1, 500, 102), job(1, 1, 500, 490))
	require.Equal(t, seconds(161, 500), tight.corrections[5], "by a minute at least")
	less := inTurn(t, &predict.Similar{Templates: by, Q: 0.5}, job(1, 1, 2_000, 100), job(1, 1, 2_000, 100), job(1, 1, 2_000, 100), job(1, 1, 2_000, 1_000), job(1, 1, 2_000, 1_000), job(1, 1, 500, 490))
	require.Equal(t, seconds(500), less.corrections[6], "at most to the request")
}

func TestACategoryKeepsTheLatest(t *testing.T) {
	p := &predict.Similar{Templates: []predict.Template{predict.User}, Last: 2}
	got := inTurn(t, p, job(1, 1, 100, 90), job(1, 1, 100, 10), job(1, 1, 100, 20), job(1, 1, 100, 40), job(1, 1, 100, 1))
	require.Equal(t, seconds(50, 15, 30), []des.Time{got.first[3], got.first[4], got.first[5]})
}

// naive is Similar, written down slowly: of all that have ended.
type naive struct {
	q         float64
	last      int
	templates []predict.Template
	ended     []*entity.Job
}

func (n *naive) predict(j *entity.Job) des.Time {
	class := func(n des.Time) int { return int(math.Ceil(math.Log2(float64(n)))) }
	var best []float64
	tightest := math.Inf(1)
	for _, t := range n.templates {
		var same []float64
		for _, e := range n.ended {
			if (t&predict.User == 0 || e.User == j.User) && (t&predict.Size == 0 || class(des.Time(e.Request.Nodes)) == class(des.Time(j.Request.Nodes))) &&
				(t&predict.Length == 0 || class(e.Request.Length/des.Second) == class(j.Request.Length/des.Second)) {
				same = append(same, min(e.Runtime, e.Request.Length).Seconds())
			}
		}
		if t&predict.User != 0 && j.User < 0 {
			continue
		}
		same = same[max(0, len(same)-n.last):]
		if len(same) < 2 {
			continue
		}
		k := float64(len(same))
		mean, squares := 0.0, 0.0
		for _, v := range same {
			mean += v / k
		}
		for _, v := range same {
			squares += (v - mean) * (v - mean)
		}
		quantile := math.Round(distuv.StudentsT{Sigma: 1, Nu: k - 1}.Quantile(0.95)*1e4) / 1e4
		width := quantile * math.Sqrt(squares/(k-1)*(1+1/k))
		if width < tightest-1e-9 {
			best, tightest = same, width
		}
	}
	if best == nil {
		for _, e := range n.ended {
			best = append(best, min(e.Runtime, e.Request.Length).Seconds())
		}
	}
	if best == nil {
		return 0
	}
	answer := 0.0
	if n.q > 0 {
		slices.Sort(best)
		for _, v := range best {
			answer = v
			at := 0
			for _, u := range best {
				if u <= v {
					at++
				}
			}
			if float64(at) >= n.q*float64(len(best))-1e-9 {
				break
			}
		}
	} else {
		sum := 0.0
		for _, v := range best {
			sum += v
		}
		answer = math.Floor(sum / float64(len(best)))
	}
	return min(max(des.Seconds(answer), des.Second), j.Request.Length)
}

func TestSimilarIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &naive{
			q: rapid.SampledFrom([]float64{0, 0.25, 0.5, 1}).Draw(t, "q"), last: rapid.IntRange(2, 5).Draw(t, "last"),
			templates: rapid.SliceOfNDistinct(rapid.SampledFrom([]predict.Template{
				predict.User, predict.Size, predict.Length, predict.User | predict.Length, predict.User | predict.Size | predict.Length,
			}), 1, 4, rapid.ID).Draw(t, "templates"),
		}
		var jobs []*entity.Job
		for range rapid.IntRange(1, 30).Draw(t, "jobs") {
			jobs = append(jobs, job(rapid.Int32Range(-1, 2).Draw(t, "user"), rapid.IntRange(1, 5).Draw(t, "nodes"),
				des.Time(rapid.IntRange(1, 300).Draw(t, "asks")), des.Time(rapid.IntRange(0, 400).Draw(t, "runs"))))
		}
		got := inTurn(t, &predict.Similar{Q: n.q, Last: n.last, Templates: n.templates}, jobs...)
		for _, j := range jobs {
			require.Equal(t, n.predict(j), got.first[j.ID], "job %d", j.ID)
			n.ended = append(n.ended, j)
		}
	})
}

func TestMemoryIsBoundedHoweverManyUsersThereAre(t *testing.T) {
	for _, c := range []struct {
		p     entity.Predictor
		users int32
		most  int64 // MB
	}{{&predict.Recent{}, 1_000_000, 40}, {&predict.Similar{}, 200_000, 40}} {
		held := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := held()
		r := entity.NewRun(job(1, 1, 100, 50), 0)
		r.State = entity.Finished
		for i := range c.users {
			r.User = i
			c.p.Observe(entity.JobFinished, entity.KnownOf(r))
		}
		require.Less(t, (held()-before)>>20, c.most, "MB of %s, of %d users", c.p.Name(), c.users)
		runtime.KeepAlive(c.p)
	}
}

func TestTheUsersSeenLatestAreRemembered(t *testing.T) {
	p := &predict.Recent{K: 1}
	r := entity.NewRun(job(0, 1, 100, 50), 0)
	r.State = entity.Finished
	for i := range int32(350_000) {
		r.User = i
		p.Observe(entity.JobFinished, entity.KnownOf(r))
		if i%50_000 == 0 {
			r.User = 7
			if i == 0 {
				p.Observe(entity.JobFinished, entity.KnownOf(r))
			}
			require.Equal(t, 50*des.Second, p.Predict(entity.KnownOf(r)), "who is asked for is remembered")
		}
	}
	for user, want := range map[int32]des.Time{7: 50 * des.Second, 349_999: 50 * des.Second, 250_000: 50 * des.Second, 8: 0} {
		r.User = user
		require.Equal(t, want, p.Predict(entity.KnownOf(r)), "user %d", user)
	}
}

package predict_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/predict"
)

func TestTypicalIsHalfOfTheMean(t *testing.T) {
	got := inTurn(t, &predict.Typical{Recency: 1}, job(1, 1, 1000, 200), job(1, 1, 1000, 200), job(1, 1, 1000, 1000), job(2, 1, 1000, 1))
	require.Equal(t, 250*des.Second, got.first[1], "half of half the request, as nothing is known")
	require.Equal(t, 100*des.Second, got.first[2], "half of the one runtime")
	require.Equal(t, 100*des.Second, got.first[3])
	require.Equal(t, 170*des.Second, got.first[4], "of another user: half of the geometric mean of 200, 200 and 1000")
}

func TestJobsThatAreAlikeWeighMoreToTypical(t *testing.T) {
	p := func(asks des.Time, nodes int) des.Time {
		return inTurn(t, &predict.Typical{}, job(1, 16, 1600, 1024), job(1, 1, 100, 4), job(1, nodes, asks, 1)).first[3]
	}
	require.Greater(t, p(1600, 16), p(1600, 4))
	require.Greater(t, p(1600, 4), p(1600, 1))
	require.Greater(t, p(1600, 1), p(100, 1))
	late := inTurn(t, &predict.Typical{}, job(1, 1, 1600, 1024), job(1, 1, 1600, 4), job(1, 1, 1600, 1))
	early := inTurn(t, &predict.Typical{}, job(1, 1, 1600, 4), job(1, 1, 1600, 1024), job(1, 1, 1600, 1))
	require.Greater(t, early.first[3], late.first[3], "the later weighs more")
}

// typical is predict.Typical by its definition.
func typical(before []*entity.Job, j *entity.Job, part, recency, prior float64) float64 {
	ratio := func(a, b float64) float64 { return min(a, b) / max(a, b) }
	ran := func(e *entity.Job) float64 { return max(min(e.Runtime, e.Request.Length).Seconds(), 1) }
	asks := func(e *entity.Job) float64 { return e.Request.Length.Seconds() }
	var user, all, class []float64
	for _, e := range before {
		all = append(all, math.Log(ran(e)/asks(e)))
		if math.Floor(2*math.Log2(asks(e))) == math.Floor(2*math.Log2(asks(j))) {
			class = append(class, math.Log(ran(e)/asks(e)))
		}
	}
	sum := func(x []float64) (s float64) {
		for _, v := range x {
			s += v
		}
		return s
	}
	used := 0.5
	if len(all) > 0 {
		used = math.Exp((sum(class) + 10*sum(all)/float64(len(all))) / float64(len(class)+10))
	}
	runtimes, weights := prior*asks(j)*used, prior
	for _, e := range slices.Backward(before) {
		if e.User == j.User && len(user) < 20 {
			w := math.Pow(recency, float64(len(user))) * ratio(asks(e), asks(j)) * ratio(float64(e.Request.Nodes), float64(j.Request.Nodes))
			runtimes, weights = runtimes+w*ran(e), weights+w
			user = append(user, w)
		}
	}
	return min(max(math.Floor(part*runtimes/weights), 1), asks(j))
}

func TestTypicalIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &predict.Typical{
			Part: rapid.Float64Range(0.1, 2).Draw(t, "part"), Recency: rapid.Float64Range(0.3, 1).Draw(t, "recency"), Prior: rapid.Float64Range(0.1, 3).Draw(t, "prior"),
		}
		var jobs []*entity.Job
		for range rapid.IntRange(1, 60).Draw(t, "jobs") {
			jobs = append(jobs, job(rapid.Int32Range(-1, 1).Draw(t, "user"), rapid.IntRange(1, 50).Draw(t, "nodes"),
				des.Time(rapid.IntRange(1, 90_000).Draw(t, "asks")), des.Time(rapid.IntRange(0, 100_000).Draw(t, "runs"))))
		}
		got := inTurn(t, p, jobs...)
		for i, j := range jobs {
			want := typical(jobs[:i], j, p.Part, p.Recency, p.Prior)
			require.InDelta(t, want, got.first[j.ID].Seconds(), 1, "job %d", j.ID) // logarithms of six digits
		}
	})
}

func TestTheRegressionsLossIsOfTheSideOfTheError(t *testing.T) {
	last := func(p *predict.Regression) des.Time {
		var jobs []*entity.Job
		for i := range 400 {
			jobs = append(jobs, job(1, 4, 10_000, []des.Time{100, 3000, 300, 9000}[i*7%11%4]))
		}
		return inTurn(t, p, jobs...).first[400]
	}
	rate := 20.0
	low := last(&predict.Regression{Under: predict.Absolute, Rate: rate, Ridge: 1})
	middle := last(&predict.Regression{Rate: rate, Ridge: 1})
	high := last(&predict.Regression{Over: predict.Absolute, Rate: rate, Ridge: 1})
	require.Less(t, low, middle)
	require.Less(t, middle, high)
}

func TestTheRegressionLearnsWhatIsAlwaysTheSame(t *testing.T) {
	var jobs []*entity.Job
	for range 300 {
		jobs = append(jobs, job(1, 4, 1000, 400))
	}
	got := inTurn(t, &predict.Regression{Rate: 50, Ridge: 1e-9}, jobs...)
	require.Equal(t, des.Second, got.first[1], "before the first has ended it knows nothing")
	require.InDelta(t, 400, got.first[300].Seconds(), 20)
}

// The method is normalized: in which units a feature is given makes no difference.
func TestTheRegressionDoesNotDependOnTheUnitOfNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var small, large []*entity.Job
		for range rapid.IntRange(1, 40).Draw(t, "jobs") {
			user, nodes := rapid.Int32Range(1, 3).Draw(t, "user"), rapid.IntRange(1, 8).Draw(t, "nodes")
			asks, runs := des.Time(rapid.IntRange(1, 90_000).Draw(t, "asks")), des.Time(rapid.IntRange(0, 100_000).Draw(t, "runs"))
			small, large = append(small, job(user, nodes, asks, runs)), append(large, job(user, 8*nodes, asks, runs))
		}
		p := func() entity.Predictor {
			return &predict.Regression{Under: predict.Absolute, Weight: predict.AllJobs, Ridge: 1e-300}
		}
		require.Equal(t, inTurn(t, p(), small...).first, inTurn(t, p(), large...).first)
	})
}

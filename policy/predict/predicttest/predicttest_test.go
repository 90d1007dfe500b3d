package predicttest_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/policy/predict/predicttest"
)

func TestPredictorsOfTheTableSeeNoFuture(t *testing.T) {
	specs := []string{"request:factor=0.5", "request:factor=3", "recent:k=1", "recent:k=4:of=median", "similar:q=0.9", "similar:by=user/request:last=3"}
	for _, e := range policy.Predictors() {
		specs = append(specs, e.Name)
	}
	for _, spec := range specs {
		if spec == "true" {
			continue // see below
		}
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				require.NoError(t, predicttest.Check(t, func([]*entity.Job) entity.Predictor {
					p, err := policy.Predictors().Parse(spec)
					require.NoError(t, err)
					return p.Value
				}))
			})
		})
	}
}

// faulty is a predictor with a fault.
type faulty struct {
	predict.Similar
	predict func(j entity.Known) des.Time
	correct func(j entity.Known) des.Time
	meta    *entity.Metascheduler
}

func (f *faulty) Attach(m *entity.Metascheduler) { f.meta = m }

func (f *faulty) Predict(j entity.Known) des.Time {
	if f.predict != nil {
		return f.predict(j)
	}
	return f.Similar.Predict(j)
}

func (f *faulty) Correct(j entity.Known) des.Time {
	if f.correct != nil {
		return f.correct(j)
	}
	return f.Similar.Correct(j)
}

func TestWhatAPredictorMustNotDoIsFound(t *testing.T) {
	shared := 0
	runtimes := func(jobs []*entity.Job) map[int64]des.Time {
		all := map[int64]des.Time{}
		for _, j := range jobs {
			all[j.ID] = j.Runtime
		}
		return all
	}
	for name, c := range map[string]struct {
		begin func(jobs []*entity.Job) entity.Predictor
		want  string
	}{
		"it knows runtimes": {func([]*entity.Job) entity.Predictor { return entity.Exact{} }, "the future shows"},
		"it has a table of the runtimes": {func(jobs []*entity.Job) entity.Predictor {
			all := runtimes(jobs)
			return &faulty{predict: func(j entity.Known) des.Time { return all[j.ID()] }}
		}, "the future shows"},
		"it has that of the job before": {func(jobs []*entity.Job) entity.Predictor {
			all := runtimes(jobs)
			return &faulty{predict: func(j entity.Known) des.Time { return all[j.ID()-1] }}
		}, "the future shows"},
		"it knows whether a job is killed": {func(jobs []*entity.Job) entity.Predictor {
			all := runtimes(jobs)
			return &faulty{predict: func(j entity.Known) des.Time {
				if all[j.ID()] > j.Request() {
					return j.Request()
				}
				return j.Request() / 2
			}}
		}, "the future shows"},
		"it corrects by the runtimes": {func(jobs []*entity.Job) entity.Predictor {
			all := runtimes(jobs)
			return &faulty{correct: func(j entity.Known) des.Time { return all[j.ID()] }}
		}, "the future shows"},
		"it asks what runs": {func([]*entity.Job) entity.Predictor {
			f := &faulty{}
			f.predict = func(entity.Known) des.Time {
				sum := des.Time(0)
				for r := range f.meta.RunningJobs() {
					sum += r.Runtime
				}
				return sum
			}
			return f
		}, "the future shows"},
		"it goes on counting in another run": {func([]*entity.Job) entity.Predictor {
			return &faulty{predict: func(entity.Known) des.Time { shared++; return des.Time(shared) * des.Second }}
		}, "not the same a second time"},
		"it goes by the order of a map": {func([]*entity.Job) entity.Predictor {
			seen := map[int64]bool{}
			return &faulty{predict: func(j entity.Known) des.Time {
				seen[j.ID()] = true
				for id := range seen {
					return des.Time(id) * des.Second
				}
				return 0
			}}
		}, "not the same a second time"},
		"it divides by nothing": {func([]*entity.Job) entity.Predictor {
			return &faulty{predict: func(entity.Known) des.Time { return des.Time(math.Inf(1)) }}
		}, "no time"},
		"it never ends": {func([]*entity.Job) entity.Predictor {
			return &faulty{predict: func(entity.Known) des.Time { return des.Forever }}
		}, "no time"},
		"it corrects by a tick for years": {func([]*entity.Job) entity.Predictor {
			return &faulty{predict: func(entity.Known) des.Time { return des.Tick }, correct: func(j entity.Known) des.Time { return j.Prediction() + des.Tick }}
		}, "more than 1000 times"},
		"it cannot do without users' numbers": {func([]*entity.Job) entity.Predictor {
			return &faulty{predict: func(j entity.Known) des.Time { return []des.Time{1, 2, 3, 4}[j.User()] }}
		}, "it panics"},
	} {
		t.Run(name, func(t *testing.T) {
			check := rapid.Custom(func(t *rapid.T) error { return predicttest.Check(t, c.begin) })
			var err error
			for workload := 0; err == nil && workload < 30; workload++ { // rapid.Check draws a hundred
				err = check.Example(workload)
			}
			require.ErrorContains(t, err, c.want)
			t.Log(err)
		})
	}
}

package predict

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func TestTheFeaturesOfTheRegressionAreThoseOfThePaper(t *testing.T) {
	known := func(submit, start des.Time, nodes int) entity.Known {
		j := &entity.Job{Submit: submit * des.Second, Request: entity.Request{Nodes: nodes, Length: 500 * des.Second}}
		r := entity.NewRun(j, 0)
		r.Start = start * des.Second
		return entity.KnownOf(r)
	}
	u := regressed{
		last: [3]float64{100, 200, 900}, ended: 4, ran: 1600, nodes: 8, end: 21_000 * des.Second,
		running: []entity.Known{known(0, 21_500, 3), known(0, 21_550, 2)},
	}
	const quarter = 6 * 3600 // of a day: it is 6 o'clock, a 28th of the week
	require.Equal(t, [features]float64{
		1, 100, 200, 500, 500, 150, 800. / 3, 400, 600, 3, 5, 150, 2, 100,
		0, 1, coarse(0.9749279121818236), coarse(0.2225209339563144), 6,
	}, u.features(known(quarter, 0, 6)))
	none := regressed{}
	require.Equal(t, [features]float64{
		1, 500, 500, 500, 500, 500, 500, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6,
	}, none.features(known(0, 0, 6)))
	x := (&Regression{}).expand(u.features(known(quarter, 0, 6)))
	require.Len(t, x, terms)
	require.Equal(t, 19+120+18, terms)
	require.Equal(t, 100.*200, x[features])
	require.Equal(t, 36., x[terms-1])
}

func TestTheWeightsOfTheRegressionAreThoseOfThePaper(t *testing.T) {
	for w, want := range map[Weight]float64{LargeJobs: 1 + 8.987197, SmallJobs: 11 - 8.987197, NarrowJobs: 5 + 4.382027, WideJobs: 5 - 4.382027, AllJobs: 1} {
		require.InDelta(t, want, w.of(800, 10), 2e-6, w.String())
	}
}

func TestTheRegressionRemembersOfAUserWhatFeaturesNeed(t *testing.T) {
	p := &Regression{}
	var known []entity.Known
	for i, runtime := range []des.Time{100, 200, 300, 400} {
		j := &entity.Job{User: 1, Submit: des.Time(1000*i) * des.Second, Runtime: runtime * des.Second, Request: entity.Request{Nodes: i + 1, Length: 500 * des.Second}}
		r := entity.NewRun(j, int64(i))
		r.State = entity.Finished
		k := entity.KnownOf(r)
		known = append(known, k)
		p.Observe(entity.JobStarted, k)
	}
	other := entity.KnownOf(entity.NewRun(&entity.Job{User: 1, Request: entity.Request{Nodes: 1, Length: des.Second}}, 4))
	p.Observe(entity.JobStarted, other)
	for _, k := range known {
		p.Observe(entity.JobFinished, k)
	}
	require.Equal(t, regressed{
		last: [3]float64{400, 300, 200}, ended: 4, ran: 1000, nodes: 10, end: 3000 * des.Second, running: []entity.Known{other},
	}, *p.users.at(1))
	p.Predict(other)
	p.Observe(entity.JobRequeued, other)
	require.Contains(t, p.waiting, other.Seq(), "it is to be learnt from yet")
	require.Empty(t, p.users.at(1).running)
	require.Equal(t, 4., p.users.at(1).ended)
}

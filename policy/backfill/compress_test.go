package backfill_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// takenOut is a cluster on which a reservation moves by the plain text: it is taken
// out, what it asks for is searched for, and it is put back.
type takenOut struct{ *plan.Cluster }

func (c takenOut) FindEarlier(r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
	j, held := r.Run, r.Window
	c.Release(r, from)
	w, ok := c.Find(entity.Request{Nodes: held.Nodes, Length: held.Length()}, from, min(until, held.Start-des.Tick))
	if _, err := c.Reserve(j, held); err != nil {
		panic(err)
	}
	return w, ok
}

func (c takenOut) Move(r *entity.Reservation, w entity.Window) error {
	j := r.Run
	c.Release(r, 0)
	_, err := c.Reserve(j, w)
	return err
}

// trouble is an observer who, as jobs start, takes others out, stops them, resizes
// them, and has capacity go.
type trouble struct {
	meta  *entity.Metascheduler
	deeds []int // one for each start
	story []string
}

func (o *trouble) Observe(e entity.JobEvent) {
	o.story = append(o.story, fmt.Sprint(e.Time, e.Kind, e.Run.ID, e.Start, e.Run.Reservation.Window))
	if e.Kind != entity.JobStarted || len(o.deeds) == 0 {
		return
	}
	deed := o.deeds[0]
	o.deeds = o.deeds[1:]
	switch m := o.meta; deed {
	case 1:
		m.Kill(e.Run, "a test")
	case 2:
		m.Preempt(e.Run, des.Forever)
	case 3, 4:
		for j := range m.Queue().By(entity.Submission, e.Time).All() {
			if j.State != entity.Reserved {
				continue
			}
			if deed == 3 {
				m.Cancel(j, "a test")
			} else {
				m.Withdraw(j)
			}
			break
		}
	case 5:
		h, err := m.Withhold(entity.Where{Count: 1}, e.Time+2, e.Time+9)
		if err == nil && e.Run.ID%2 == 0 {
			h.Drop()
		}
	case 6:
		if len(e.Run.Shapes) > 0 {
			err := m.Resize(e.Run, e.Run.Shapes[0].Nodes, 1)
			o.story = append(o.story, fmt.Sprint(err))
		}
	}
}

// forecast predicts half of what is asked for, so that many jobs are corrected.
type forecast struct{}

func (forecast) Name() string                              { return "half" }
func (forecast) Predict(j entity.Known) des.Time           { return max(j.Request()/2, des.Tick) }
func (forecast) Observe(entity.JobEventKind, entity.Known) {}

func TestCompressionIsWhatTakingEachJobOutWouldGive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 12).Draw(t, "procs")
		jobs, bookings := drawJobs(t, procs), drawBookings(t, procs)
		policy := backfill.Conservative{Order: rapid.SampledFrom(backfill.Orders()).Draw(t, "order"), Shape: rapid.SampledFrom(rules).Draw(t, "shape")}
		pass := entity.Pass(rapid.IntRange(0, 1).Draw(t, "pass"))
		overrun := rapid.SampledFrom([]entity.Overrun{entity.OverrunKill, entity.OverrunExtend, entity.OverrunRaise}).Draw(t, "overrun")
		predicted := rapid.Bool().Draw(t, "predicted")
		deeds := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 30).Draw(t, "deeds")
		stories := func(machine entity.Plan) []string {
			sim := des.New(des.Config{Fingerprint: true})
			o := &trouble{deeds: deeds}
			m := entity.NewMetascheduler(sim, machine, policy, o)
			o.meta, m.Pass, m.Overrun, m.LeaveWaiting = m, pass, overrun, true
			if predicted {
				m.Predictor = forecast{}
			}
			flow.NewBookings(m).Submit(slices.Values(bookings))
			m.SubmitAll(slices.Values(jobs))
			err := sim.Run(context.Background())
			return append(o.story, fmt.Sprint(err, sim.Fingerprint()))
		}
		require.Equal(t, stories(takenOut{plan.NewCluster(procs)}), stories(plan.NewCluster(procs)), policy.Name())
	})
}

// Jobs of few shapes crowd before a small machine and run shorter than they ask for, so
// that compression looks at equals over and over.
func TestCompressionOfManyEqualJobsIsWhatTakingEachJobOutWouldGive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(2, 8).Draw(t, "procs")
		nodes := rapid.SliceOfN(rapid.IntRange(1, procs), 2, 3).Draw(t, "nodes")
		lengths := rapid.SliceOfN(rapid.IntRange(2, 20), 2, 2).Draw(t, "lengths")
		var jobs []*entity.Job
		var now des.Time
		for i := range rapid.IntRange(10, 120).Draw(t, "jobs") {
			now += des.Time(rapid.IntRange(0, 3).Draw(t, "gap"))
			length := des.Time(rapid.SampledFrom(lengths).Draw(t, "length"))
			jobs = append(jobs, &entity.Job{
				ID: int64(i + 1), Submit: now, Runtime: des.Time(rapid.IntRange(1, int(length)).Draw(t, "runtime")),
				Request: entity.Request{Nodes: rapid.SampledFrom(nodes).Draw(t, "nodes"), Length: length},
			})
		}
		deeds := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 30).Draw(t, "deeds")
		stories := func(machine entity.Plan) []string {
			sim := des.New(des.Config{Fingerprint: true})
			o := &trouble{deeds: deeds}
			m := entity.NewMetascheduler(sim, machine, backfill.Conservative{}, o)
			o.meta, m.LeaveWaiting = m, true
			m.SubmitAll(slices.Values(jobs))
			err := sim.Run(context.Background())
			return append(o.story, fmt.Sprint(err, sim.Fingerprint()))
		}
		require.Equal(t, stories(takenOut{plan.NewCluster(procs)}), stories(plan.NewCluster(procs)))
	})
}

// shorter predicts that the first job runs for 10 s.
type shorter struct{}

func (shorter) Name() string { return "shorter" }

func (shorter) Predict(j entity.Known) des.Time {
	if j.ID() == 1 {
		return 10 * des.Second
	}
	return 0
}

func (shorter) Observe(entity.JobEventKind, entity.Known) {}

// As a job outlives its prediction, those that hold windows in its way lose them, and one
// that stood behind them may start where they were.
//
//	procs |             at 10 the first job goes on until 20, and "wide" must
//	    3 |____|wide|   wait: "narrow", which has stood behind it, starts
//	    2 |first____
//	      +---10---20---> time
func TestAJobThatRunsOnLetsOthersStartWhereTheOnesInItsWayStood(t *testing.T) {
	job := func(id, submit, length des.Time, nodes int) *entity.Job {
		return &entity.Job{ID: int64(id), Submit: submit * des.Second, Runtime: length * des.Second, Request: entity.Request{Nodes: nodes, Length: length * des.Second}}
	}
	first, wide, narrow := job(1, 0, 20, 2), job(2, 1, 10, 3), job(3, 2, 15, 1)
	got := became{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(3), backfill.Conservative{}, got)
	m.Predictor = shorter{}
	m.SubmitAll(slices.Values([]*entity.Job{first, wide, narrow}))
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, 10*des.Second, got[narrow].Start)
}

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

// listener hears what is said, and keeps it all.
type listener struct {
	meta *entity.Metascheduler
	all  []statement
	said func(at des.Time, r *entity.Run, w entity.Why)
	over func(r *entity.Round)
	// placed numbers the latest starts and promises of jobs, in their order.
	placed map[*entity.Run]int
	places int
}

type statement struct {
	at  des.Time
	job int64
	why entity.Why
}

func (s statement) String() string {
	text := fmt.Sprintf("%d: %d %v", int64(s.at), s.job, s.why.What)
	if s.why.Other != nil {
		text += fmt.Sprintf(" %d", s.why.Other.ID)
	}
	switch s.why.What {
	case entity.TooFewFree:
		text += fmt.Sprintf(" until %d", int64(s.why.Start))
	case entity.WouldDelay:
		text += fmt.Sprintf(" by %d", int64(s.why.Delay))
	}
	return text
}

func (l *listener) Observe(e entity.JobEvent) {
	if l.placed == nil {
		l.placed = map[*entity.Run]int{}
	}
	if e.Kind == entity.JobStarted || e.Kind == entity.JobPromised {
		l.places++
		l.placed[e.Run] = l.places
	}
}

func (l *listener) Attach(m *entity.Metascheduler) { l.meta = m }

func (l *listener) ObserveWhy(at des.Time, r *entity.Run, w entity.Why) {
	l.all = append(l.all, statement{at, r.ID, w})
	if l.said != nil {
		l.said(at, r, w)
	}
}

func (l *listener) Decided(r *entity.Round) {
	if l.over != nil {
		l.over(r)
	}
}

// takenNow is what runs and what is reserved ahead, by what jobs hold.
func (l *listener) takenNow(now des.Time) (all []taken) {
	for r := range l.meta.RunningJobs() {
		w := r.Reservation.Window
		all = append(all, taken{r, entity.Shape{Nodes: w.Nodes}, w.Start, w.End})
	}
	for r := range l.meta.Queue().By(entity.Submission, now).All() {
		if w := r.Reservation.Window; r.State == entity.Reserved {
			all = append(all, taken{r, entity.Shape{Nodes: w.Nodes}, w.Start, w.End})
		}
	}
	return all
}

// takenBefore is takenNow as it was when j was placed, if it has been: a policy that places
// jobs one after the other says why they wait when it is done.
func (l *listener) takenBefore(j *entity.Run, now des.Time) []taken {
	all := l.takenNow(now)
	if j.State == entity.Reserved {
		all = slices.DeleteFunc(all, func(t taken) bool { return l.placed[t.job] >= l.placed[j] })
	}
	return all
}

// Every number that is said is what the definition finds at that instant, tick by
// tick; and after every round each job that waits has been told what holds it now.
func TestWhatIsSaidIsTrue(t *testing.T) {
	orders := backfill.Orders()
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 12).Draw(t, "procs")
		jobs := drawJobs(t, procs)
		d := &definition{procs: procs, rule: rapid.SampledFrom([]entity.ShapeRule{entity.FirstStart, entity.Largest}).Draw(t, "shape")}
		order := entity.Submission
		if rapid.Bool().Draw(t, "another order") {
			order = rapid.SampledFrom(orders).Draw(t, "order")
		}
		easy := backfill.EASY{
			Order: order, Shape: d.rule, Depth: rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "depth"),
			Reservations: rapid.SampledFrom([]int{backfill.NoReservation, 0, 0, 1, 2, 3, backfill.AllReservations}).Draw(t, "reservations"),
		}
		if order.Name == entity.Submission.Name {
			easy.Order = entity.Order{}
		}
		if rapid.Bool().Draw(t, "candidates") {
			easy.Candidates = rapid.SampledFrom(orders).Draw(t, "candidate order")
		}
		policy := rapid.SampledFrom([]entity.Policy{
			backfill.FCFS{Order: order, Shape: d.rule}, easy, easy, easy,
			backfill.Conservative{Order: order, Shape: d.rule, NoCompression: rapid.Bool().Draw(t, "no compression")},
		}).Draw(t, "policy")
		_, isEASY := policy.(backfill.EASY)
		many := isEASY && easy.Reservations > 1

		l := &listener{}
		l.said = func(now des.Time, j *entity.Run, w entity.Why) {
			switch w.What {
			case entity.TooFewFree:
				require.Greater(t, w.Start, now)
				requireBlocker(t, j, now, w)
				if !many { // otherwise beside what is held as well
					require.Equal(t, d.earliest(j, now, l.takenBefore(j, now)).from, w.Start, "%v at %v under %s", j, now, policy.Name())
				}
			case entity.WouldDelay:
				require.False(t, many)
				before := l.takenNow(now)
				own, ok := d.best(j, now, now, before)
				require.True(t, ok, "%v does not fit at %v", j, now)
				require.Equal(t, d.earliest(w.Other, now, before).from, w.Start)
				require.Equal(t, d.earliest(w.Other, now, before, []taken{own}).from, w.Start+w.Delay, "%v at %v would delay %v", j, now, w.Other)
				require.Positive(t, w.Delay)
			}
		}
		l.over = func(r *entity.Round) {
			var head *entity.Run
			now := l.takenNow(r.Now)
			for j := range r.Queue.By(order, r.Now).All() {
				said, told := r.WhyTold(j)
				require.True(t, told, "%v at %v under %s", j, r.Now, policy.Name())
				if j.State == entity.Waiting {
					require.Equal(t, j.Job.Request, j.Request, "%v asks for what was only supposed", j)
				}
				switch policy.(type) {
				case backfill.Conservative:
					require.Equal(t, entity.TooFewFree, said.What)
					continue
				case backfill.FCFS:
					if head != nil {
						require.Equal(t, entity.BehindOthers, said.What)
					}
				case backfill.EASY:
					own, fits := d.best(j, r.Now, r.Now, now)
					delays := false // a moldable head may be given another shape instead
					if fits && head != nil && easy.Reservations != backfill.NoReservation {
						delays = d.earliest(head, r.Now, now, []taken{own}).from > d.earliest(head, r.Now, now).from
					}
					switch {
					case head == nil || many:
					case delays && len(head.Shapes) == 0 && easy.Depth == 0, delays && said.What == entity.WouldDelay:
						require.Equal(t, entity.WouldDelay, said.What, "%v at %v under %s", j, r.Now, policy.Name())
						require.Equal(t, head, said.Other)
					case said.What == entity.WouldDelay:
						require.Equal(t, head, said.Other)
					case said.What == entity.HeldOtherwise:
						require.NotZero(t, easy.Depth)
					default:
						require.Equal(t, entity.NoRoomBeside, said.What)
					}
				}
				if head == nil {
					head = j
					require.Equal(t, entity.TooFewFree, said.What)
					require.Equal(t, d.earliest(j, r.Now, now).from, said.Start, "%v, the head, at %v", j, r.Now)
				}
			}
		}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(procs), policy, l)
		m.Pass = entity.Pass(rapid.IntRange(0, 1).Draw(t, "pass"))
		m.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
	})
}

// requireBlocker checks that a job whose earliest start is w.Start waits for another job, which
// has what w.By says it has until then.
func requireBlocker(t require.TestingT, j *entity.Run, now des.Time, w entity.Why) {
	by := w.By
	require.Contains(t, []entity.BlockerKind{entity.BlockedByJob, entity.BlockedByPlan}, by.Kind, "%v at %v", j, now)
	require.NotEqual(t, j, by.Run)
	require.True(t, by.Run.Reservation.Active)
	require.Equal(t, by.Kind == entity.BlockedByJob, by.Run.State == entity.Running)
	held := by.Run.Reservation.Window
	require.Equal(t, entity.Blocker{Kind: by.Kind, Run: by.Run, From: held.Start, To: w.Start, Nodes: held.Nodes}, by)
	require.Equal(t, w.Start, held.End)
}

func TestListeningChangesNothing(t *testing.T) {
	finders := agreeing()
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 12).Draw(t, "procs")
		jobs, bookings := drawJobs(t, procs), drawBookings(t, procs)
		policy := drawPolicy(t)
		pass := entity.Pass(rapid.IntRange(0, 1).Draw(t, "pass"))
		onCluster := rapid.Bool().Draw(t, "on a cluster")
		finder := rapid.SampledFrom(finders).Draw(t, "finder")
		machine := func() entity.Plan {
			if onCluster {
				return plan.NewCluster(procs)
			}
			d, err := plan.NewDomain(equals(procs, 1), finder)
			require.NoError(t, err)
			d.Interval = 10_000
			return d
		}
		unheard := schedule(t, machine(), policy, pass, jobs, bookings)
		require.Equal(t, unheard, schedule(t, machine(), policy, pass, jobs, bookings, &listener{}), policy.Name())
	})
}

// Budgets, prices and owners' jobs: a search for a reason may find what the job itself
// must not have.
func TestListeningChangesNothingOnPricedNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, jobs, locals := world(t)
		f := anyFinder(t)
		p := rapid.SampledFrom([]entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.Conservative{}}).Draw(t, "policy")
		var logs [2][]string
		for i := range logs {
			d, err := plan.NewDomain(all, f)
			require.NoError(t, err)
			d.Interval = 300 * des.Second
			l := newLedger(t)
			observers := []entity.Observer{l}
			if i == 1 {
				observers = append(observers, &listener{})
			}
			sim := des.New(des.Config{})
			meta := entity.NewMetascheduler(sim, d, p, observers...)
			flow.NewLocalFlow(d, meta).Submit(slices.Values(locals))
			meta.SubmitAll(each(jobs))
			require.NoError(t, sim.Run(context.Background()))
			logs[i] = l.log
		}
		require.Equal(t, logs[0], logs[1])
	})
}

// Three processors; a has two of them until 10.
//
//	3 |     |bbbbbb      b, the head, wants all three
//	2 |aaaaa|bbbbbb      c fits now, and would keep one of them until 25
//	1 |aaaaa|bbbbbb
func TestAHandMadeQueueIsToldWhatHoldsIt(t *testing.T) {
	job := func(id int64, submit des.Time, nodes int, length des.Time) *entity.Job {
		return &entity.Job{ID: id, Submit: submit, Runtime: length, Request: entity.Request{Nodes: nodes, Length: length}}
	}
	jobs := []*entity.Job{job(1, 0, 2, 10), job(2, 1, 3, 5), job(3, 2, 1, 23), job(4, 3, 2, 4)}
	for _, test := range []struct {
		policy entity.Policy
		want   []string
	}{
		{backfill.EASY{}, []string{"1: 2 processors until 10", "2: 3 room 2", "2: 3 delay 2 by 15", "3: 4 room 2", "10: 3 processors until 15"}},
		{backfill.FCFS{}, []string{"1: 2 processors until 10", "2: 3 behind 2", "3: 4 behind 2", "10: 3 processors until 15"}},
		{backfill.Conservative{}, []string{"1: 2 processors until 10", "2: 3 processors until 15", "3: 4 processors until 15"}},
	} {
		l := &listener{}
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(3), test.policy, l)
		m.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		var got []string
		for _, s := range l.all {
			got = append(got, s.String())
		}
		require.Equal(t, test.want, got, test.policy.Name())
	}
}

// Two jobs come at once: the first is planned behind what runs, the second takes the rest until
// then. What was planned later stood in nobody's way.
//
//	4 |ccccc|bbbbbb      b wants all four processors, and waits for a; c has come with b and
//	3 |ccccc|bbbbbb      has more of them until then
//	2 |ccccc|bbbbbb
//	1 |aaaaa|bbbbbb
func TestConservativeNamesWhatStoodInTheWayWhenAJobWasPlanned(t *testing.T) {
	job := func(id int64, submit des.Time, nodes int, length des.Time) *entity.Job {
		return &entity.Job{ID: id, Submit: submit, Runtime: length, Request: entity.Request{Nodes: nodes, Length: length}}
	}
	l := &listener{}
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.Conservative{}, l)
	m.SubmitAll(slices.Values([]*entity.Job{job(1, 0, 1, 10), job(2, 1, 4, 5), job(3, 1, 3, 9)}))
	require.NoError(t, sim.Run(context.Background()))
	require.Len(t, l.all, 1)
	require.Equal(t, "1: 2 processors until 10", l.all[0].String())
	require.EqualValues(t, 1, l.all[0].why.By.Run.ID)
}

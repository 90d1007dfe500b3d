package backfill_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload"
)

// Among equal nodes without owners a domain is a cluster to every policy: the
// same jobs start at the same instants.

// asked hides what a finder knows of itself, so that a domain must ask it.
type asked struct{ plan.Finder }

// agreeing are finders that among equal nodes want nothing but an early start,
// whether the domain looks their answers up or asks them.
func agreeing() []plan.Finder {
	var list []plan.Finder
	for _, f := range []plan.Finder{
		window.AMP{}, window.ALP{}, window.AEP{By: window.MinStart}, window.AEP{By: window.MinFinishExact},
		window.AEP{By: window.MinCost}, window.Cheapest{Goal: window.FirstFit}, window.Cheapest{Goal: window.LeastEnd},
	} {
		list = append(list, f, asked{f})
	}
	return list
}

func drawPolicy(t *rapid.T) entity.Policy {
	order := rapid.SampledFrom(backfill.Orders()).Draw(t, "order")
	switch rapid.IntRange(0, 4).Draw(t, "policy") {
	case 0:
		return backfill.FCFS{Order: order}
	case 1:
		return backfill.Conservative{Order: order, NoCompression: rapid.Bool().Draw(t, "no compression")}
	}
	p := backfill.EASY{
		Order:        order,
		Reservations: rapid.SampledFrom([]int{backfill.NoReservation, 0, 1, 2, 3, backfill.AllReservations}).Draw(t, "reservations"),
		Depth:        rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "depth"),
	}
	if rapid.Bool().Draw(t, "candidates") {
		p.Candidates = rapid.SampledFrom(backfill.Orders()).Draw(t, "candidate order")
	}
	return p
}

// drawBookings draws advance bookings in the order in which they are asked for.
func drawBookings(t *rapid.T, procs int) []flow.Booking {
	var list []flow.Booking
	for i := range rapid.IntRange(0, 4).Draw(t, "bookings") {
		submit := des.Time(rapid.IntRange(0, 40).Draw(t, "asked for"))
		length := des.Time(rapid.IntRange(1, 20).Draw(t, "booked for"))
		list = append(list, flow.Booking{
			Job: &entity.Job{
				ID: int64(-10 - i), Submit: submit, Runtime: des.Time(rapid.Int64Range(1, int64(length)).Draw(t, "used for")),
				Request: entity.Request{Nodes: rapid.IntRange(1, procs).Draw(t, "nodes booked"), Length: length},
			},
			Start: submit + des.Time(rapid.IntRange(0, 30).Draw(t, "notice")),
		})
	}
	slices.SortStableFunc(list, func(a, b flow.Booking) int { return cmp.Compare(a.Job.Submit, b.Job.Submit) })
	return list
}

// equals are nodes that nobody can tell apart but by name.
func equals(n int, price float64) []*entity.Node {
	var list []*entity.Node
	for i := range n {
		list = append(list, &entity.Node{ID: i, Perf: 1, Price: price})
	}
	return list
}

// occupancy fails where two jobs have one node.
type occupancy struct {
	t      require.TestingT
	holder map[*entity.Node]*entity.Run
	until  map[*entity.Node]des.Time
}

func (o *occupancy) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobStarted {
		return
	}
	j := e.Run
	for _, task := range j.Reservation.Window.Tasks {
		require.LessOrEqual(o.t, o.until[task.Node], e.Time, "node %d has %v and gets %v", task.Node.ID, o.holder[task.Node], j)
		o.holder[task.Node], o.until[task.Node] = j, e.Time+j.RealTime(task.End-e.Time)
	}
}

func TestEqualNodesScheduleAsACluster(t *testing.T) {
	finders := agreeing()
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 12).Draw(t, "procs")
		jobs, bookings := drawJobs(t, procs), drawBookings(t, procs)
		for _, j := range jobs {
			if rapid.IntRange(0, 3).Draw(t, "has a deadline") == 0 {
				j.Request.Deadline = j.Submit + des.Time(rapid.IntRange(1, 60).Draw(t, "deadline"))
			}
		}
		policy := drawPolicy(t)
		pass := entity.Pass(rapid.IntRange(0, 1).Draw(t, "pass"))
		d, err := plan.NewDomain(equals(procs, rapid.SampledFrom([]float64{0, 1.3}).Draw(t, "price")), rapid.SampledFrom(finders).Draw(t, "finder"))
		require.NoError(t, err)
		d.Interval = 10_000
		seen := &occupancy{t, map[*entity.Node]*entity.Run{}, map[*entity.Node]des.Time{}}
		onCluster := schedule(t, plan.NewCluster(procs), policy, pass, jobs, bookings)
		onDomain := schedule(t, d, policy, pass, jobs, bookings, seen)
		require.Equal(t, onCluster, onDomain, "%s by %s", policy.Name(), d.Finder.Name())
	})
}

// schedule runs the jobs and bookings, and returns what became of each, as text.
func schedule(t require.TestingT, machine entity.Plan, p entity.Policy, pass entity.Pass, jobs []*entity.Job, bookings []flow.Booking, observers ...entity.Observer) (fates []string) {
	sim := des.New(des.Config{})
	r := &roll{}
	m := entity.NewMetascheduler(sim, machine, p, append(observers, r)...)
	m.Pass = pass
	flow.NewBookings(m).Submit(slices.Values(bookings))
	m.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	slices.SortFunc(r.runs, func(a, b *entity.Run) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range r.runs {
		fates = append(fates, fmt.Sprintln(j, j.State, j.Start, j.Finish, j.Promised, j.Backfilled))
	}
	return append(fates, fmt.Sprintln(m.Rounds(), "rounds"))
}

// roll lists the jobs that were submitted.
type roll struct{ runs []*entity.Run }

func (r *roll) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted {
		r.runs = append(r.runs, e.Run)
	}
}

// What a domain looks up in its counts is, to the last figure, what its finder
// would have found.
func TestWhatIsLookedUpIsWhatWouldBeFound(t *testing.T) {
	finders := agreeing()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "nodes")
		all := equals(n, rapid.SampledFrom([]float64{0, 1.3}).Draw(t, "price"))
		perf := rapid.SampledFrom([]float64{1, 2, 0.7}).Draw(t, "performance")
		for _, node := range all {
			node.Perf = perf
		}
		f := rapid.SampledFrom(finders).Draw(t, "finder")
		d, err := plan.NewDomain(all, f)
		require.NoError(t, err)
		d.Horizon = des.Time(rapid.SampledFrom([]int{0, 30, 60}).Draw(t, "horizon"))
		d.Interval = des.Time(rapid.SampledFrom([]int{0, 25, 100}).Draw(t, "interval"))
		if d.Horizon+d.Interval == 0 {
			d.Interval = 1000 // or some finders would not come to an end
		}
		instant := func(from, to des.Time, name string) des.Time {
			return des.Time(rapid.Int64Range(int64(from), int64(to)).Draw(t, name))
		}
		request := func() entity.Request {
			return entity.Request{
				Nodes: rapid.IntRange(1, n+1).Draw(t, "n"), Length: instant(1, 40, "length"),
				Deadline: instant(0, 80, "deadline"), Budget: rapid.SampledFrom([]float64{0, 0, 5e-5}).Draw(t, "budget"),
				MinPerf: rapid.SampledFrom([]float64{0, 1}).Draw(t, "least performance"),
			}
		}
		both := func(ask func() any) {
			got := ask()
			d.Finder = asked{f}
			require.Equal(t, ask(), got, "%s", f.Name())
			d.Finder = f
		}
		var jobs []*entity.Run
		for range rapid.IntRange(0, 8).Draw(t, "reservations") {
			j, start := entity.NewRun(&entity.Job{Request: request()}, 0), instant(0, 50, "start")
			j.Request.Budget, j.Request.Deadline = 0, 0
			if w, ok := d.Find(j.Request, start, start+20); ok {
				_, err := d.Reserve(j, w)
				require.NoError(t, err)
				jobs = append(jobs, j)
			}
		}
		d.Forget(instant(0, 10, "now"))
		type found struct {
			w  entity.Window
			ok bool
		}
		for range 5 {
			req, from := request(), instant(0, 60, "from")
			until := instant(from, 80, "until")
			both(func() any { w, ok := d.Find(req, from, until); return found{w, ok} })
			both(func() any { return d.Fits(req) == nil })
			both(func() any { ok, _, _ := d.FitsAt(from, req.Nodes, req.Length); return ok })
			ok, nodes, length := d.FitsAt(from, req.Nodes, req.Length)
			more := entity.Request{Nodes: nodes + rapid.IntRange(0, 2).Draw(t, "more"), Length: max(1, length+instant(0, 5, "longer"))}
			_, fits := d.Find(more, from, from)
			require.False(t, !ok && fits, "a miss of %d for %v says that %d for %v are one, too", req.Nodes, req.Length, more.Nodes, more.Length)
		}
		for _, j := range jobs {
			if j.Reservation.Window.Start > 10 {
				from := instant(0, 40, "from")
				both(func() any { w, ok := d.FindEarlier(&j.Reservation, from, des.Forever); return found{w, ok} })
			}
		}
	})
}

// kth reads the log of KTH-SP2, which only some machines have at hand.
func kth(t testing.TB) (jobs []*entity.Job, procs int) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	trace, err := workload.OpenSWF(filepath.Join(dir, "KTH-SP2-1996-2.1-cln.swf.gz"))
	require.NoError(t, err)
	jobs = slices.Collect(trace.Jobs())
	require.NoError(t, trace.Err())
	require.Greater(t, len(jobs), 28_000)
	return jobs, trace.MaxProcs
}

func TestKTHStartsOnEqualNodesAsOnItsProcessors(t *testing.T) {
	jobs, procs := kth(t)
	for _, policy := range []entity.Policy{
		backfill.FCFS{}, backfill.EASY{}, backfill.EASY{Candidates: backfill.ShortestFirst}, backfill.Conservative{},
	} {
		for run := range 4 {
			list, pass := jobs, entity.Pass(run%2)
			if run >= 2 {
				list = exactly(jobs)
			}
			d, err := plan.NewDomain(equals(procs, 1), window.AMP{})
			require.NoError(t, err)
			onCluster := schedule(t, plan.NewCluster(procs), policy, pass, list, nil)
			onDomain := schedule(t, d, policy, pass, list, nil)
			require.True(t, slices.Equal(onCluster, onDomain), "%s, run %d", policy.Name(), run)
		}
	}
}

// Owners who come and go among equal nodes break no promise, and no node is
// given to two.
func TestKTHBesideOwnersKeepsItsPromises(t *testing.T) {
	jobs, procs := kth(t)
	jobs = jobs[:5000]
	all := equals(procs, 1)
	r := rand.New(rand.NewPCG(1, 2))
	var owners []flow.LocalJob
	span := jobs[len(jobs)-1].Submit
	for range 2000 {
		start := des.Time(r.Int64N(int64(span)))
		owners = append(owners, flow.LocalJob{
			Node: all[r.IntN(procs)], Known: max(0, start-des.Time(r.Int64N(int64(des.Day)))),
			Start: start, Length: 1 + des.Time(r.Int64N(int64(10*des.Hour))),
		})
	}
	slices.SortStableFunc(owners, func(a, b flow.LocalJob) int { return cmp.Compare(a.Known, b.Known) })
	for _, policy := range []entity.Policy{backfill.EASY{}, backfill.Conservative{}} {
		d, err := plan.NewDomain(all, window.AMP{})
		require.NoError(t, err)
		l, r := newLedger(t), &roll{}
		sim := des.New(des.Config{})
		meta := entity.NewMetascheduler(sim, d, policy, l, r, &occupancy{t, map[*entity.Node]*entity.Run{}, map[*entity.Node]des.Time{}})
		local := flow.NewLocalFlow(d, meta)
		local.Submit(slices.Values(owners))
		meta.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		require.Equal(t, len(owners), local.Stats().Jobs)
		require.Len(t, r.runs, len(jobs))
		for _, j := range r.runs {
			require.Contains(t, []entity.RunState{entity.Finished, entity.Killed}, j.State)
			if _, conservative := policy.(backfill.Conservative); conservative && j.Promised != entity.NeverPromised {
				require.LessOrEqual(t, j.Start, j.Promised)
			}
		}
		t.Logf("%s: %+v", policy.Name(), local.Stats())
	}
}

// exactly is the jobs with exact estimates.
func exactly(jobs []*entity.Job) (list []*entity.Job) {
	for _, j := range jobs {
		c := *j
		c.Runtime = max(des.Tick, min(c.Runtime, c.Request.Length))
		c.Request.Length = c.Runtime
		list = append(list, &c)
	}
	return list
}

// What a domain of equal nodes costs beside a cluster.
func BenchmarkKTH(b *testing.B) {
	jobs, procs := kth(b)
	for _, policy := range []entity.Policy{backfill.FCFS{}, backfill.EASY{}, backfill.EASY{Candidates: backfill.ShortestFirst}, backfill.Conservative{}} {
		for _, on := range []string{"cluster", "domain", "domain-asking"} {
			b.Run(policy.Name()+"/"+on, func(b *testing.B) {
				for b.Loop() {
					var machine entity.Plan = plan.NewCluster(procs)
					var err error
					switch on {
					case "domain":
						machine, err = plan.NewDomain(equals(procs, 1), window.AMP{})
					case "domain-asking":
						machine, err = plan.NewDomain(equals(procs, 1), asked{window.AMP{}})
					}
					require.NoError(b, err)
					sim := des.New(des.Config{})
					m := entity.NewMetascheduler(sim, machine, policy)
					m.SubmitAll(slices.Values(jobs))
					require.NoError(b, sim.Run(context.Background()))
				}
			})
		}
	}
}

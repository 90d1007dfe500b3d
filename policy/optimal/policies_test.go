package optimal_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/optimal"
)

// ran are the measures of a run, by what is to be least.
type ran [3]float64

// run has a policy decide about jobs whose runtimes are what they ask for. Measures are those of the
// shapes in which jobs ran.
func run(t *testing.T, p entity.Policy, jobs []optimal.Job, processors int) (r ran) {
	var last des.Time
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(processors), p, observer(func(e entity.JobEvent) {
		if e.Kind != entity.JobFinished {
			return
		}
		wait, length := (e.Run.Began() - e.Run.Submit).Seconds(), e.Run.Runtime.Seconds()
		last = max(last, e.Time)
		r[optimal.Wait] += wait
		r[optimal.Slowdown] += max(1, (wait+length)/max(length, optimal.DefaultTau.Seconds()))
	}))
	var coming []*entity.Job
	for i, j := range jobs {
		job := &entity.Job{
			ID: int64(i + 1), Submit: j.Submit, Runtime: j.Length, User: -1, Group: -1, Queue: -1,
			Request: entity.Request{Nodes: j.Nodes, Length: j.Length},
		}
		for _, s := range j.Shapes {
			job.Shapes = append(job.Shapes, entity.Shape{Nodes: s.Nodes, Length: s.Length, Runtime: s.Length})
		}
		coming = append(coming, job)
	}
	if c, is := p.(entity.Clairvoyant); is {
		require.NoError(t, c.Foresee(context.Background(), coming, processors, func(j *entity.Job) des.Time { return j.Runtime }))
	}
	for _, j := range coming {
		m.Submit(j)
	}
	require.NoError(t, sim.Run(context.Background()))
	r[optimal.Makespan] = (last - jobs[0].Submit).Seconds()
	return r
}

// EASY in the orders that a search begins with, told how long jobs run, has no less than the search, whose
// window is of one job here: it changes nothing. No two events are of one instant, after which EASY may
// begin with either.
func TestAnOrderIsNoWorseThanTheSchedulesItBeginsWith(t *testing.T) {
	better := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 14))
		processors, at := 2+r.IntN(15), des.Time(0)
		gap := int64(1+r.IntN(20)) * int64(des.Second)
		var jobs []optimal.Job
		for range 5 + r.IntN(80) {
			jobs = append(jobs, optimal.Job{Submit: at, Length: 1 + des.Time(r.Int64N(int64(40*des.Second))), Nodes: 1 + r.IntN(1+r.IntN(processors))})
			at += 1 + des.Time(r.Int64N(gap))
		}
		for _, spec := range []string{"easy:order=shortest", "easy:order=smallest"} {
			chosen, err := policy.Registry().Parse(spec)
			require.NoError(t, err)
			got := run(t, chosen.Value, jobs, processors)
			for _, m := range []optimal.Measure{optimal.Wait, optimal.Makespan, optimal.Slowdown} {
				found, err := optimal.OrderSearch{Window: 1}.Search(context.Background(), jobs, processors, m, optimal.DefaultTau)
				require.NoError(t, err)
				require.LessOrEqual(t, found.Cost, got[m]*(1+1e-9)+1e-9, "seed %d, %s, %v", seed, spec, m)
				if found.Cost < got[m]*(1-1e-9) {
					better++
				}
			}
		}
	}
	require.Positive(t, better)
}

// shapesOf are shapes of up to so many sizes beside a job's own, which is among them, in the order of
// entity.Job.Shapes. Some are too wide for the machine.
func shapesOf(r *rand.Rand, j optimal.Job, processors, most int) (shapes []optimal.Shape) {
	lengths := map[int]des.Time{j.Nodes: j.Length}
	for range r.IntN(most + 1) {
		nodes := 1 + r.IntN(processors+1)
		if _, there := lengths[nodes]; !there {
			lengths[nodes] = max(des.Second, (j.Length*des.Time(j.Nodes)/des.Time(nodes)+des.Time(r.IntN(5))*des.Second)/des.Second*des.Second)
		}
	}
	if len(lengths) == 1 {
		return nil
	}
	for _, nodes := range slices.Sorted(maps.Keys(lengths)) {
		shapes = append(shapes, optimal.Shape{Length: lengths[nodes], Nodes: nodes})
	}
	return shapes
}

type observer func(entity.JobEvent)

func (o observer) Observe(e entity.JobEvent) { o(e) }

// No policy that lets jobs run to their ends has less of anything than the schedule that is
// best for it, and a policy of these best schedules has exactly what was proved.
func TestNoPolicyIsBetterThanTheOptimum(t *testing.T) {
	noneIsBetter(t, 0)
}

// Moldable jobs have the same shapes under all policies, and the optimum chooses best.
func TestNoPolicyMoldsJobsBetterThanTheOptimum(t *testing.T) {
	noneIsBetter(t, 3)
}

// noneIsBetter compares all policies on 150 sets of jobs, which have up to so many shapes beside their own.
func noneIsBetter(t *testing.T, shapes int) {
	specs := []string{"easy:order=shortest", "easy:reservations=all", "easy:spare=off", "conservative:order=wfp3", "conservative:compression=off", "fcfs:order=smallest"}
	if shapes > 0 {
		for _, name := range []string{"fcfs", "easy", "easy:order=shortest", "easy:reservations=all", "conservative"} {
			specs = append(specs, name+":shape=end", name+":shape=largest")
		}
	}
	for _, e := range policy.Registry().ForAny() {
		switch e.Name {
		case "selective-preemption", "time-slicing", "equipartition": // they stop or resize jobs
		default:
			specs = append(specs, e.Name)
		}
	}
	reached := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 11))
		processors, at := 2+r.IntN(15), 0
		var jobs []optimal.Job
		for range 4 + r.IntN(6) {
			jobs = append(jobs, optimal.Job{Submit: des.Time(at) * des.Second, Length: des.Time(1+r.IntN(40)) * des.Second, Nodes: 1 + r.IntN(processors)})
			at += r.IntN(20)
		}
		for i := range jobs {
			j := &jobs[i]
			if j.Shapes = shapesOf(r, *j, processors, shapes); j.Shapes != nil && j.Shapes[0].Nodes <= processors && r.IntN(3) == 0 {
				widest := j.Shapes[len(j.Shapes)-1] // it may be too wide for the machine
				j.Length, j.Nodes = widest.Length, widest.Nodes
			}
		}
		var least ran
		for _, m := range []optimal.Measure{optimal.Wait, optimal.Makespan, optimal.Slowdown} {
			p := &optimal.Policy{Of: m}
			least[m] = run(t, p, jobs, processors)[m]
			require.InDelta(t, p.Best().Cost, least[m], 1e-6*least[m]+1e-9, "seed %d, %v", seed, m)
		}
		for _, spec := range specs {
			chosen, err := policy.Registry().Parse(spec)
			require.NoError(t, err)
			got := run(t, chosen.Value, jobs, processors)
			for m := range got {
				require.GreaterOrEqual(t, got[m], least[m]*(1-1e-8), "seed %d, %s, %v", seed, spec, optimal.Measure(m))
			}
			if got == least {
				reached++
			}
		}
	}
	require.Positive(t, reached)
}

package policy

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
)

// specs are all policies of a table, and each under a cap that leaves half of the
// processors where it can have one.
func specs[T any](table Table[T], capped bool) (all []string) {
	for _, e := range table.ForAny() {
		all = append(all, e.Name)
		if capped && e.takes(powerCapParam) {
			all = append(all, e.Name+":"+powerCapParam+"=300")
		}
		if e.takes("shape") {
			all = append(all, e.Name+":shape=end", e.Name+":shape=largest")
		}
	}
	return all
}

// shapedJobs draws jobs of which some ask for more than there is, and have a shape of
// less.
func shapedJobs(t *rapid.T, size int) (jobs []*entity.Job) {
	seconds := func(what string) des.Time { return des.Time(rapid.IntRange(1, 40).Draw(t, what)) * des.Second }
	at := des.Time(0)
	for id := range rapid.IntRange(1, 8).Draw(t, "jobs") {
		at += des.Time(rapid.IntRange(0, 20).Draw(t, "gap")) * des.Second
		j := &entity.Job{ID: int64(id), Submit: at, Runtime: seconds("runtime"), Request: entity.Request{Nodes: rapid.IntRange(1, 2*size).Draw(t, "nodes"), Length: seconds("estimate")}}
		for n := 1; n <= size+1; n++ {
			if n != j.Request.Nodes && rapid.Bool().Draw(t, "a shape") {
				j.Shapes = append(j.Shapes, entity.Shape{Nodes: n, Runtime: seconds("runtime"), Length: seconds("estimate")})
			}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// inAnyShape reports whether a request of j in any of its shapes is one of those that fit.
func inAnyShape(j *entity.Job, fits func(entity.Request) bool) bool {
	ok := fits(j.Request)
	for _, s := range j.Shapes {
		in, _ := j.In(s.Nodes)
		ok = ok || fits(in.Request)
	}
	return ok
}

// ends runs jobs on a plan: it comes to an end, and each has run that can, and the others
// are rejected with a reason.
func ends(t *rapid.T, on entity.Plan, p entity.Policy, pass entity.Pass, jobs []*entity.Job, can func(*entity.Job) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, on, p)
	m.Pass, m.Cycle = pass, 100*des.Second
	var runs []*entity.Run
	for _, j := range jobs {
		runs = append(runs, m.Submit(j))
	}
	require.NoError(t, sim.Run(ctx))
	for _, r := range runs {
		if can(r.Job) {
			require.Contains(t, []entity.RunState{entity.Finished, entity.Killed}, r.State, "%v: %s", r, r.Reason)
		} else {
			require.Equal(t, entity.Rejected, r.State, "%v", r)
			require.NotEmpty(t, r.Reason)
		}
	}
}

func TestUnderEveryPolicyAJobRunsThatFitsInAnyShape(t *testing.T) {
	for _, spec := range specs(Registry(), true) {
		t.Run(spec, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.IntRange(2, 6).Draw(t, "size")
				c, err := Registry().Parse(spec)
				require.NoError(t, err)
				most := size
				if p, is := c.Value.(*PowerCap); is {
					p.Idle, p.Busy = 0, 300
					most = 1
				}
				pass := entity.Pass(rapid.IntRange(0, 2).Draw(t, "pass"))
				ends(t, plan.NewCluster(size), c.Value, pass, shapedJobs(t, size), func(j *entity.Job) bool {
					return inAnyShape(j, func(req entity.Request) bool { return req.Nodes <= most })
				})
			})
		})
	}
}

func TestOnNodesEveryJobRunsOrIsToldWhyNot(t *testing.T) {
	for _, spec := range append(specs(NodeRegistry(), false), "bsf:q=0", "bsf:q=1") {
		t.Run(spec, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var nodes []*entity.Node
				for id := range rapid.IntRange(2, 5).Draw(t, "size") {
					nodes = append(nodes, &entity.Node{ID: id, Perf: rapid.SampledFrom([]float64{1, 2}).Draw(t, "performance"), Price: 1})
				}
				c, err := NodeRegistry().Parse(spec)
				require.NoError(t, err)
				domain, err := plan.NewDomain(nodes, c.Value.Finder)
				require.NoError(t, err)
				domain.Interval = rapid.SampledFrom([]des.Time{15, 30, 500}).Draw(t, "how far it plans") * des.Second
				empty, err := plan.NewDomain(nodes, c.Value.Finder)
				require.NoError(t, err)
				empty.Interval = domain.Interval
				fits := func(req entity.Request) bool { return empty.Fits(req) == nil }
				p, plans := c.Value.Policy.(*cyclic.Policy)
				ends(t, domain, c.Value.Policy, entity.PassInstant, shapedJobs(t, len(nodes)), func(j *entity.Job) bool {
					if plans && p.Rest == nil { // batches are of jobs as they ask
						return fits(j.Request)
					}
					return inAnyShape(j, fits)
				})
			})
		})
	}
}

package validate_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload"
)

// The real policies, by what they promise. (Tests may look sideways; the
// package itself does not.)
var policies = []struct {
	policy   entity.Policy
	promises validate.Promises
}{
	{backfill.FCFS{}, validate.Promises{Order: true, Head: true}},
	{backfill.EASY{}, validate.Promises{Head: true}},
	{backfill.EASY{Candidates: backfill.ShortestFirst}, validate.Promises{Head: true}},
	{backfill.EASY{Reservations: 3}, validate.Promises{Head: true}},
	{backfill.EASY{Depth: 2}, validate.Promises{Head: true}},
	{backfill.EASY{Order: backfill.SmallestFirst}, validate.Promises{}},
	{backfill.Conservative{}, validate.Promises{First: true}},
	{backfill.Conservative{NoCompression: true}, validate.Promises{First: true}},
}

// run simulates jobs and validates the schedule, as it is made and as it was
// written.
func run(t require.TestingT, procs int, p entity.Policy, promises validate.Promises, pass entity.Pass, overrun entity.Overrun, jobs func() []*entity.Job) metrics.Summary {
	var file bytes.Buffer
	rec, w := metrics.NewRecorder(), metrics.NewJobsWriter(&file)
	v := &validate.Validator{Promises: promises}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(procs), p, rec, w, v)
	meta.Pass, meta.Overrun = pass, overrun
	meta.SubmitAll(slices.Values(jobs()))
	require.NoError(t, sim.Run(context.Background()))
	report := v.Report(true)
	require.NoError(t, report.Err(), "%v", report)
	require.NoError(t, w.Close())
	check := validate.Rules{Promises: promises, Processors: procs, Overrun: overrun}
	report, err := validate.Jobs(&file, slices.Values(jobs()), check)
	require.NoError(t, err)
	require.NoError(t, report.Err(), "%v", report)
	return rec.Summary()
}

func TestPoliciesKeepTheirPromises(t *testing.T) {
	for i, c := range policies {
		for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent} {
			t.Run(fmt.Sprintf("%d %s pass %d", i, c.policy.Name(), pass), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					procs := rapid.IntRange(1, 16).Draw(t, "procs")
					overrun := rapid.SampledFrom([]entity.Overrun{entity.OverrunKill, entity.OverrunExtend}).Draw(t, "overrun")
					var list []entity.Job
					var submit des.Time
					for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
						submit += des.Time(rapid.IntRange(0, 8).Draw(t, "gap")) * des.Second
						list = append(list, entity.Job{
							ID: int64(i + 1), Submit: submit, User: 7,
							Runtime: des.Time(rapid.IntRange(0, 40).Draw(t, "runtime")) * des.Second,
							Request: entity.Request{
								Nodes:  rapid.IntRange(1, procs+procs/8).Draw(t, "nodes"),
								Length: des.Time(rapid.IntRange(1, 40).Draw(t, "estimate")) * des.Second,
							},
						})
					}
					run(t, procs, c.policy, c.promises, pass, overrun, func() []*entity.Job {
						var jobs []*entity.Job
						for _, j := range list {
							jobs = append(jobs, &j)
						}
						return jobs
					})
				})
			})
		}
	}
}

// On named nodes of unequal speed, whose tasks end apart: no node has two jobs,
// and the online promises hold.
func TestPoliciesKeepTheirPromisesOnNamedNodes(t *testing.T) {
	for i, c := range policies {
		t.Run(fmt.Sprintf("%d %s", i, c.policy.Name()), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var nodes []*entity.Node
				for id := range rapid.IntRange(1, 8).Draw(t, "nodes") {
					nodes = append(nodes, &entity.Node{ID: id, Perf: rapid.Float64Range(0.5, 4).Draw(t, "perf")})
				}
				domain, err := plan.NewDomain(nodes, window.AMP{})
				require.NoError(t, err)
				var jobs []*entity.Job
				var submit des.Time
				for i := range rapid.IntRange(1, 20).Draw(t, "jobs") {
					submit += des.Time(rapid.IntRange(0, 8).Draw(t, "gap")) * des.Second
					jobs = append(jobs, &entity.Job{
						ID: int64(i + 1), Submit: submit,
						Runtime: des.Time(rapid.IntRange(1, 40).Draw(t, "runtime")) * des.Second,
						Request: entity.Request{
							Nodes:  rapid.IntRange(1, len(nodes)).Draw(t, "size"),
							Length: des.Time(rapid.IntRange(1, 40).Draw(t, "estimate")) * des.Second,
						},
					})
				}
				rec, v := metrics.NewRecorder(), &validate.Validator{Promises: c.promises}
				sim := des.New(des.Config{})
				entity.NewMetascheduler(sim, domain, c.policy, rec, v).SubmitAll(slices.Values(jobs))
				require.NoError(t, sim.Run(context.Background()))
				require.NoError(t, v.Report(true).Err())
				u := rec.Summary().Utilization
				require.True(t, u > 0 && u <= 1, "utilization %v", u)
			})
		})
	}
}

func TestPoliciesKeepTheirPromisesOnARealTrace(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES is not set")
	}
	trace, err := workload.OpenSWF(filepath.Join(dir, "KTH-SP2-1996-2.recon.swf.gz"))
	require.NoError(t, err)
	jobs := func() []*entity.Job {
		list := slices.Collect(trace.Jobs())
		require.NoError(t, trace.Err())
		return list[:10_000]
	}
	for i, c := range policies {
		t.Run(fmt.Sprintf("%d %s", i, c.policy.Name()), func(t *testing.T) {
			s := run(t, 100, c.policy, c.promises, entity.PassEvent, entity.OverrunKill, jobs)
			require.Equal(t, 10_000, s.Jobs)
		})
	}
}

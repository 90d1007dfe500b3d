package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/model"
	"github.com/gridslot/gridslot/workload/vo"
)

// blue is the log of the rows on long runs.
const blue = "SDSC-BLUE-2000-4.2-cln.recon"

// unequal is the first so many jobs of SDSC-BLUE under EASY on nodes of different speeds
// and prices, through the command. A job may look a month ahead for its window.
func unequal(tb testing.TB, nodes int, finder string, budgets bool, jobs int) cost {
	tb.Helper()
	domain := filepath.Join(tb.TempDir(), "domain.yaml")
	text := fmt.Sprintf("generate: {count: %d}\ncycle: 3600\ninterval: 2592000\ntrace: {performance: 5, free: %v}\n", nodes, !budgets)
	require.NoError(tb, os.WriteFile(domain, []byte(text), 0o666))
	cmd := process(roleCommand, "simulate", logFile(tb, blue), "--domain", domain, "--first", fmt.Sprint(jobs), "--policy", "easy:finder="+finder, "--workers", "1")
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	return run(tb, cmd)
}

// unequalJobs is how many jobs the rows on nodes have.
const unequalJobs = 10_000

// BenchmarkUnequal is EASY on unequal nodes: by AMP, which takes the earliest window,
// without and with budgets, and by the exact search for DEP.
func BenchmarkUnequal(b *testing.B) {
	for _, c := range []struct {
		name, finder string
		budgets      bool
	}{{"amp", "amp", false}, {"amp-budgets", "amp", true}, {"square-dep", "square-dep", true}} {
		for _, nodes := range []int{400, 1600} {
			b.Run(fmt.Sprintf("%s/nodes=%d", c.name, nodes), func(b *testing.B) {
				var costs []cost
				for range b.N {
					costs = append(costs, unequal(b, nodes, c.finder, c.budgets, unequalJobs))
				}
				report(b, costs)
			})
		}
	}
}

// fleet is EASY by AMP on so many unequal nodes, which jobs of up to 256 nodes keep busy
// to seven tenths.
type fleet struct {
	Nodes, Jobs int
	Shape       string // of the nodes; see adversarial_test.go
}

func init() { works[nameOf(&fleet{})] = &fleet{} }

const (
	fleetWidest = 256 // nodes of a job
	fleetPerf   = 5   // what jobs' lengths are for
)

func (f *fleet) begin() (func() (counts, error), error) {
	nodes, err := vo.Nodes{Count: f.Nodes}.Generate(1, 0)
	if err != nil {
		return nil, err
	}
	reshapeNodes(f.Shape, nodes, 1)
	drawn, err := model.Lublin{Processors: fleetWidest, Load: 0.7 * float64(f.Nodes) / fleetWidest, Seed: 1}.Jobs(int64(f.Jobs))
	if err != nil {
		return nil, err
	}
	pricing, err := vo.Priced{Perf: fleetPerf, Free: true}.Begin(1, 0)
	if err != nil {
		return nil, err
	}
	var jobs []*entity.Job
	for j := range drawn {
		j.Request.Nodes = min(j.Request.Nodes, f.Nodes)
		pricing.Apply(j)
		jobs = append(jobs, j)
	}
	reshapeJobs(f.Shape, jobs, f.Nodes)
	return func() (counts, error) {
		domain, err := plan.NewDomain(nodes, window.AMP{})
		if err != nil {
			return nil, err
		}
		sim := des.New(des.Config{Seed: 1})
		meta := entity.NewMetascheduler(sim, domain, backfill.EASY{})
		meta.SubmitAll(slices.Values(jobs))
		if err := sim.Run(context.Background()); err != nil {
			return nil, err
		}
		return counts{"events": float64(sim.Executed())}, nil
	}, nil
}

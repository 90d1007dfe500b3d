// M/M/1 as processes; package des has it as events.
package process_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/docs/guides/from-gridsim-and-cloudsim/process"
)

// mm1 runs so many customers, who come at the rate lambda, past one clerk, who
// serves at the rate mu, and tells response how long each has been there.
func mm1(sim *des.Simulator, customers int, lambda, mu float64, response func(des.Time)) error {
	procs := process.NewGroup(sim)
	defer procs.Close()
	clerk := procs.NewResource("clerk", 1)
	arrivals, services := sim.Stream("arrivals"), sim.Stream("services")

	customer := func(p *process.Process) {
		arrived := p.Now()
		p.Acquire(clerk, 1)
		p.Wait(exponential(services, mu))
		clerk.Release(1)
		response(p.Now() - arrived)
	}
	procs.Go("source", func(p *process.Process) {
		for range customers {
			p.Wait(exponential(arrivals, lambda))
			procs.Go("customer", customer)
		}
	})
	return sim.Run(ctx)
}

func exponential(r *rand.Rand, rate float64) des.Time { return des.Seconds(r.ExpFloat64() / rate) }

func Example_mm1() {
	const lambda, mu, customers = 0.5, 1.0, 100_000
	var sum float64
	err := mm1(des.New(des.Config{Seed: 1}), customers, lambda, mu, func(d des.Time) { sum += d.Seconds() })
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("mean time in the system: %.2f, by the formula: %.2f\n", sum/customers, 1/(mu-lambda))
	// Output: mean time in the system: 2.00, by the formula: 2.00
}

func TestMM1AgreesWithTheClosedFormula(t *testing.T) {
	const replications, customers, warmUp, load = 20, 10_000, 1_000, 0.5
	var means []float64
	for i := range uint64(replications) {
		served, sum := 0, 0.0
		require.NoError(t, mm1(des.New(des.Config{Seed: 1, Replication: i}), customers, load, 1, func(d des.Time) {
			if served++; served > warmUp {
				sum += d.Seconds()
			}
		}))
		require.Equal(t, customers, served)
		means = append(means, sum/(customers-warmUp))
	}
	mean, deviation := stat.MeanStdDev(means, nil)
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: replications - 1}.Quantile(0.9995) * stat.StdErr(deviation, replications)
	require.InDelta(t, 1/(1-load), mean, half)
	require.Less(t, half, 0.1/(1-load), "the interval is narrow enough to mean something")
}

func BenchmarkMM1(b *testing.B) {
	b.ReportAllocs()
	if err := mm1(des.New(des.Config{Seed: 1}), b.N, 0.8, 1, func(des.Time) {}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSwitch is one Wait: an event, and a switch there and back.
func BenchmarkSwitch(b *testing.B) {
	b.ReportAllocs()
	sim := des.New(des.Config{})
	procs := process.NewGroup(sim)
	defer procs.Close()
	procs.Go("p", func(p *process.Process) {
		for range b.N {
			p.Wait(des.Second)
		}
	})
	if err := sim.Run(ctx); err != nil {
		b.Fatal(err)
	}
}

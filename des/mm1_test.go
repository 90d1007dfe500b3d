// M/M/1, a counter with one clerk, is the smallest model with a closed formula:
// with arrivals at rate lambda and service at rate mu the mean time in the
// system is 1/(mu - lambda). Here it is written with events; package process
// has it as processes.
package des_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gridslot/gridslot/des"
)

// mm1 is the model. Its two kinds of event are views of it, so that scheduling
// them costs no allocation.
type mm1 struct {
	arrivalRate, serviceRate float64 // per time unit
	customers                int     // how many will come

	arrivals, services *rand.Rand
	line               []des.Time // instants of arrival
	served             int        // how many of line have left; the next is being served
	responses          func(des.Time)
}

type (
	arrival   mm1
	departure mm1
)

func (m *mm1) start(sim *des.Simulator) {
	m.arrivals, m.services = sim.Stream("arrivals"), sim.Stream("services")
	sim.After(exp(m.arrivals, m.arrivalRate), 0, (*arrival)(m), 0)
}

func (a *arrival) Handle(sim *des.Simulator, e des.Event) {
	m := (*mm1)(a)
	if m.line = append(m.line, e.Time); len(m.line) == m.served+1 {
		sim.After(exp(m.services, m.serviceRate), 0, (*departure)(m), 0)
	}
	if m.customers--; m.customers > 0 {
		sim.After(exp(m.arrivals, m.arrivalRate), 0, a, 0)
	}
}

func (d *departure) Handle(sim *des.Simulator, e des.Event) {
	m := (*mm1)(d)
	m.responses(e.Time - m.line[m.served])
	if m.served++; m.served < len(m.line) {
		sim.After(exp(m.services, m.serviceRate), 0, d, 0)
	} else {
		m.line, m.served = m.line[:0], 0
	}
}

func exp(r *rand.Rand, rate float64) des.Time { return des.Seconds(r.ExpFloat64() / rate) }

// The mean time in the system of 20 replications lies within the interval of
// confidence (99.9%, Student's t) around the closed formula's.
func TestMM1AgreesWithTheClosedFormula(t *testing.T) {
	const replications, customers, warmUp = 20, 50_000, 2_000
	for _, load := range []float64{0.5, 0.8} {
		var means []float64
		for i := range uint64(replications) {
			sim := des.New(des.Config{Seed: 1, Replication: i})
			served, sum := 0, 0.0
			m := &mm1{arrivalRate: load, serviceRate: 1, customers: customers, responses: func(d des.Time) {
				if served++; served > warmUp {
					sum += d.Seconds()
				}
			}}
			m.start(sim)
			require.NoError(t, sim.Run(ctx))
			require.Equal(t, customers, served)
			means = append(means, sum/(customers-warmUp))
		}
		mean, deviation := stat.MeanStdDev(means, nil)
		half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: replications - 1}.Quantile(0.9995) * stat.StdErr(deviation, replications)
		require.InDelta(t, 1/(1-load), mean, half)
		require.Less(t, half, 0.1/(1-load), "the interval is narrow enough to mean something")
	}
}

// One customer is two events.
func BenchmarkMM1(b *testing.B) {
	const turn = 1000
	sim := des.New(des.Config{Seed: 1})
	served := 0
	m := &mm1{arrivalRate: 0.8, serviceRate: 1, customers: math.MaxInt, responses: func(des.Time) {
		if served++; served%turn == 0 {
			sim.Stop()
		}
	}}
	m.start(sim)
	b.ReportAllocs()
	ns := des.MedianTurns(b, turn, func() {
		if err := sim.Run(ctx); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(ns[0], "ns/customer")
}

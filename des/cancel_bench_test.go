package des_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gridslot/gridslot/des"
)

// operations keeps so many operations going, each guarded by a timeout that is
// cancelled when the operation completes; the next then begins.
type operations struct {
	rng      *rand.Rand
	timeouts []des.EventID // by operation
	left     int
	late     int
}

const patience = 10 * des.Second // ten times the mean: e^-10 of all are late

func (o *operations) begin(sim *des.Simulator, op uint64) {
	sim.After(exp(o.rng, 1), 0, o, op)
	o.timeouts[op] = sim.After(patience, 0, (*timeout)(o), op)
}

func (o *operations) Handle(sim *des.Simulator, e des.Event) {
	sim.Cancel(o.timeouts[e.Arg])
	o.begin(sim, e.Arg)
	if o.left--; o.left == 0 {
		sim.Stop()
	}
}

type timeout operations

func (t *timeout) Handle(*des.Simulator, des.Event) { t.late++ }

func BenchmarkCancelledTimeout(b *testing.B) {
	const turn = 1000
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("pending=%d", n), func(b *testing.B) {
			sim := des.New(des.Config{Seed: 1})
			o := &operations{rng: sim.Stream("operations"), timeouts: make([]des.EventID, n)}
			for op := range o.timeouts {
				o.begin(sim, uint64(op))
			}
			complete := func(n int) {
				o.left = n
				if err := sim.Run(ctx); err != nil {
					b.Fatal(err)
				}
			}
			complete(20 * n) // into the steady state
			b.ReportAllocs()
			b.ReportMetric(des.MedianTurns(b, turn, func() { complete(turn) })[0], "ns/operation")
		})
	}
}

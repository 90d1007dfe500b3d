package plan_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// none finds nothing: what is left is the domain's own work.
type none struct{}

func (none) Name() string { return "none" }

func (none) Find(context.Context, entity.Request, plan.SlotList, des.Time) (plan.Found, error) {
	return plan.Found{}, nil
}

// crowded is a domain of 100 nodes and about 400 slots within 1200 units.
func crowded(b *testing.B) *plan.Domain {
	r := rand.New(rand.NewPCG(1, 2))
	var all []*entity.Node
	for i := range 100 {
		all = append(all, &entity.Node{ID: i, Perf: float64(2 + r.IntN(9)), Price: 1})
	}
	d, err := plan.NewDomain(all, none{})
	require.NoError(b, err)
	d.Horizon = 1200 * des.Second
	for _, n := range all {
		at := des.Time(r.IntN(300)) * des.Second
		for range 3 {
			end := at + des.Time(10+r.IntN(100))*des.Second
			require.NoError(b, d.Occupy(n, at, end))
			at = end + des.Time(1+r.IntN(300))*des.Second
		}
	}
	return d
}

func BenchmarkDomain(b *testing.B) {
	d := crowded(b)
	req := entity.Request{Nodes: 5, Length: 300 * des.Second}

	b.Run("now", func(b *testing.B) {
		for b.Loop() {
			d.Find(req, 0, 0)
		}
	})
	b.Run("ahead", func(b *testing.B) {
		b.ReportMetric(float64(len(slots(d, 0, d.Horizon))), "slots")
		for b.Loop() {
			d.Find(req, 0, des.Forever)
		}
	})
	// What "ahead" would cost were slots gathered and sorted for each search.
	b.Run("sorting anew", func(b *testing.B) {
		list := slots(d, 0, d.Horizon)
		rand.New(rand.NewPCG(3, 4)).Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		scratch := make([]entity.Slot, len(list))
		for b.Loop() {
			copy(scratch, list)
			slices.SortFunc(scratch, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
		}
	})
	b.Run("reserve and release", func(b *testing.B) {
		j := entity.NewRun(&entity.Job{}, 0)
		w := window(5000*des.Second, 5100*des.Second, d.Nodes()[:5]...)
		for b.Loop() {
			if _, err := d.Reserve(j, w); err != nil {
				b.Fatal(err)
			}
			d.Release(&j.Reservation, 0)
		}
	})
}

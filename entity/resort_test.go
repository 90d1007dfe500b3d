package entity_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// changing are orders that change with time: slowly, all at once, into ties, and where
// some have no key at all.
var changing = map[string]func(r *entity.Run, now des.Time) float64{
	"as waits grow": func(r *entity.Run, now des.Time) float64 {
		return -float64(now-r.Submit) / float64(r.Request.Length)
	},
	"shuffled": func(r *entity.Run, now des.Time) float64 { return float64((r.ID + 7) * int64(now+13) % 1009) },
	"turned":   func(r *entity.Run, now des.Time) float64 { return float64(r.ID) * float64(1-2*(now%2)) },
	"ties":     func(r *entity.Run, now des.Time) float64 { return float64((r.ID + int64(now)) % 3) },
	"some without a key": func(r *entity.Run, now des.Time) float64 {
		if (r.ID+int64(now))%4 == 0 {
			return math.NaN()
		}
		return float64(r.ID % 10)
	},
}

func TestAnOrderThatChangesIsThatOfItsKeysAtEveryInstant(t *testing.T) {
	names := []string{"as waits grow", "shuffled", "turned", "ties", "some without a key"}
	rapid.Check(t, func(t *rapid.T) {
		var queue, elsewhere entity.Queue
		key := changing[rapid.SampledFrom(names).Draw(t, "order")]
		order := entity.Order{Name: "changing", Dynamic: true, Key: key}
		var waiting []*entity.Run
		now, seq := des.Time(0), int64(0)
		most := rapid.SampledFrom([]int{1, 5, 40, 150}).Draw(t, "most at a time")
		for range rapid.IntRange(1, 10).Draw(t, "rounds") {
			for range rapid.IntRange(0, most).Draw(t, "come") {
				j := entity.NewRun(&entity.Job{ID: seq, Submit: now, Request: entity.Request{Nodes: int(1 + seq%5), Length: des.Time(1 + seq*seq%17)}}, seq)
				j.State = entity.Waiting
				waiting = append(waiting, j)
				queue.Take(j)
				seq++
			}
			for range rapid.IntRange(0, len(waiting)).Draw(t, "go") {
				i := rapid.IntRange(0, len(waiting)-1).Draw(t, "who")
				elsewhere.Take(waiting[i])
				waiting = slices.Delete(waiting, i, i+1)
			}
			now += des.Time(rapid.IntRange(0, 3).Draw(t, "later"))

			rank := func(r *entity.Run) float64 {
				if k := key(r, now); !math.IsNaN(k) {
					return k
				}
				return math.Inf(1)
			}
			want := slices.SortedFunc(slices.Values(waiting), func(a, b *entity.Run) int {
				return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Seq(), b.Seq()))
			})
			view := queue.By(order, now)
			require.Equal(t, ids(want), ids(slices.Collect(view.All())), "at %v", now)
			require.Equal(t, len(want), view.Len())
			least := math.MaxInt
			for _, r := range want {
				least = min(least, r.Request.Nodes)
			}
			require.Equal(t, least, queue.LeastNodes())
			if len(want) > 0 {
				require.Equal(t, want[0].ID, view.First().ID)
			}
		}
	})
}

func TestAnOrderIsTheOneThatIsAskedForThoughAnotherHadItsName(t *testing.T) {
	var queue entity.Queue
	for id := range int64(3) {
		j := entity.NewRun(&entity.Job{ID: id, Request: entity.Request{Nodes: 1, Length: 1}}, id)
		j.State = entity.Waiting
		queue.Take(j)
	}
	by := func(sign float64) entity.Order {
		return entity.Order{Name: "mine", Dynamic: true, Key: func(r *entity.Run, _ des.Time) float64 { return sign * float64(r.ID) }}
	}
	require.Equal(t, []int64{0, 1, 2}, ids(slices.Collect(queue.By(by(1), 1).All())))
	require.Equal(t, []int64{2, 1, 0}, ids(slices.Collect(queue.By(by(-1), 2).All())))
}

func ids(runs []*entity.Run) []int64 {
	list := make([]int64, len(runs))
	for i, r := range runs {
		list[i] = r.ID
	}
	return list
}

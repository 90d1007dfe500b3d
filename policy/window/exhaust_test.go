package window

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/stretchr/testify/require"
)

// anew is an Exhaustion as it is defined: every turn is a search from the beginning
// of what Subtract has left.
type anew struct {
	left plan.SlotList
	asks []Ask
}

func (x *anew) take(t *testing.T, search int) plan.Found {
	a := x.asks[search]
	found, err := a.By.Find(context.Background(), a.Request, x.left, a.Until)
	require.NoError(t, err)
	if found.OK {
		x.left.Slots, err = Subtract(x.left.Slots, &found.Window)
		require.NoError(t, err)
	}
	return found
}

// manySlots draws what is free on up to most nodes in 100 units: of few kinds, so
// that most costs are equal, or all different; dear ones in proportion to their
// performance, or not; slots in a sawtooth, or anyhow.
func manySlots(r *rand.Rand, most int) plan.SlotList {
	list := plan.SlotList{From: -20 * des.Second, To: 80 * des.Second}
	few, fair, sawtooth := r.IntN(2) == 0, r.IntN(3) == 0, r.IntN(4) == 0
	for id := range 1 + r.IntN(most) {
		n := &entity.Node{ID: id, Perf: 1 + 3*r.Float64(), Price: 4 * r.Float64()}
		if few {
			n.Perf, n.Price = float64(1+r.IntN(3)), float64(r.IntN(3))
		}
		if fair {
			n.Price = n.Perf
		}
		at := list.From
		for at < list.To {
			from, length := at+des.Time(r.IntN(8))*des.Second, des.Time(r.IntN(40))*des.Second
			if sawtooth {
				from, length = at+des.Second, 10*des.Second
			}
			if r.IntN(3) == 0 {
				from += des.Time(r.IntN(1_000_000))
			}
			if at = min(from+length, list.To); from <= at {
				list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, Start: from, End: at})
			}
			at += des.Time(r.IntN(2)) // a tick apart, or none
		}
	}
	r.Shuffle(len(list.Slots), func(i, j int) { list.Slots[i], list.Slots[j] = list.Slots[j], list.Slots[i] })
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

func manyAsks(r *rand.Rand, list plan.SlotList) []Ask {
	var set Settings
	if r.IntN(2) == 0 {
		set.Quantum = des.Time(1+r.IntN(3)) * des.Second
	}
	if r.IntN(3) == 0 {
		set.RoundCosts = []float64{1, 7, 0.01}[r.IntN(3)]
	}
	finders := []plan.Finder{AMP{set}, AMP{set}, AEP{set, MinStart}, ALP{set}}
	if r.IntN(3) == 0 {
		finders = append(finders, AEP{set, MinProcTimeExact}, Cheapest{Settings: set}, Within{AMP{set}, "rack"})
	}
	if r.IntN(2) == 0 {
		for goal := MinCost; goal <= MinProcTimeSubstitution; goal++ {
			finders = append(finders, AEP{set, goal})
		}
	}
	asks := make([]Ask, 1+r.IntN(12))
	for i := range asks {
		a := Ask{By: finders[r.IntN(len(finders))], Until: list.To}
		volume, n := 1+r.IntN(30), 1+r.IntN(5)
		a.Request = entity.Request{Nodes: n, Length: des.Time(volume) * des.Second}
		if r.IntN(2) == 0 {
			a.Request.Length += des.Time(r.IntN(1_000_000))
		}
		switch r.IntN(8) {
		case 0: // none
		case 1:
			a.Request.Budget = 0.5 * r.Float64()
		case 2:
			a.Request.Budget = float64(n * volume)
		default:
			a.Request.Budget = float64(n*volume) * (0.3 + r.Float64())
		}
		if r.IntN(4) == 0 {
			a.Request.MinPerf = 1 + r.Float64()
		}
		if r.IntN(5) == 0 {
			a.Request.MaxPrice = 0.5 + 2*r.Float64()
		}
		if r.IntN(5) == 0 {
			a.Request.Deadline = des.Seconds(60 * r.Float64())
		}
		if r.IntN(5) == 0 {
			a.Until = des.Seconds(60*r.Float64() - 10)
		}
		asks[i] = a
	}
	return asks
}

// fickle is a context that ends after some looks at it.
type fickle struct {
	context.Context
	looks int
}

func (f *fickle) Err() error {
	if f.looks--; f.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestTakingTurnsFindsWhatSearchesAnewFind(t *testing.T) {
	windows, others, ended := 0, 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 71))
		most := 12
		if seed%10 == 0 {
			most = 120
		}
		list := manySlots(r, most)
		asks := manyAsks(r, list)
		before := slices.Clone(list.Slots)
		x, err := NewExhaustion(list, asks)
		require.NoError(t, err)
		plain := anew{plan.SlotList{From: list.From, To: list.To, Slots: slices.Clone(list.Slots)}, asks}
		orderly := r.IntN(2) == 0
		over := 0
		for turn := 0; over < 2*len(asks) && turn < 3000; turn++ {
			i := turn % len(asks)
			if !orderly {
				i = r.IntN(len(asks))
			}
			want := plain.take(t, i)
			p := x.passes[i]
			got, err := x.Take(&fickle{context.Background(), r.IntN(12)}, i)
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				if p == nil {
					ended++
				}
				got, err = x.Take(context.Background(), i)
			}
			require.NoError(t, err)
			require.Equal(t, want.OK, got.OK, "seed %d, turn %d: search %d %v", seed, turn, i, asks[i])
			require.Equal(t, want.Window, got.Window, "seed %d, turn %d: search %d %v", seed, turn, i, asks[i])
			if over++; got.OK {
				over = 0
				windows++
			}
			if p != nil && p.others > 0 {
				others++
			}
		}
		require.Equal(t, before, list.Slots, "the list has been changed")
	}
	require.Greater(t, windows, 15_000)
	require.Greater(t, others, 1_500, "hardly any nodes were left to be chosen from")
	require.Greater(t, ended, 2_000, "hardly any turn of a search that begins anew was cancelled")
}

func TestASupplyIsWhatSubtractLeaves(t *testing.T) {
	cuts := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 72))
		list := manySlots(r, 60)
		list.Slots = slices.DeleteFunc(list.Slots, func(s entity.Slot) bool { return s.Start == s.End })
		u, err := newSupply(list, 1e-9)
		require.NoError(t, err)
		left := slices.Clone(list.Slots)
		for range 60 {
			req := entity.Request{Nodes: 1 + r.IntN(4), Length: des.Time(1+r.IntN(8)) * des.Second}
			earliest := des.Seconds(100*r.Float64() - 20)
			from := slices.DeleteFunc(slices.Clone(left), func(s entity.Slot) bool { return s.Start < earliest && r.IntN(2) == 0 })
			found, err := AMP{}.Find(context.Background(), req, plan.SlotList{From: list.From, To: list.To, Slots: from}, list.To)
			require.NoError(t, err)
			if !found.OK {
				continue
			}
			cuts++
			u.subtract(&found.Window)
			left, err = Subtract(left, &found.Window)
			require.NoError(t, err)
			var got []entity.Slot
			for _, chunk := range u.order.chunks {
				for _, p := range chunk {
					s := u.at(p.node, p.place)
					require.Equal(t, p.place, s.place())
					require.Equal(t, u.work(p.node, s.start, s.end), p.work)
					got = append(got, entity.Slot{Node: u.nodes[p.node], Width: 1, Start: s.start, End: s.end})
				}
			}
			require.Equal(t, left, got, "seed %d", seed)
		}
	}
	require.Greater(t, cuts, 500)
}

func TestASearchMeetsEachSlotOnceInAllItsTurns(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 73))
		list := manySlots(r, 40)
		asks := manyAsks(r, list)
		x, err := NewExhaustion(list, asks)
		require.NoError(t, err)
		met := make([]int, len(asks))
		for open := len(asks); open > 0; {
			open = 0
			for i := range asks {
				found, err := x.Take(context.Background(), i)
				require.NoError(t, err)
				if met[i] += found.Work.Slots; found.OK {
					open++
				}
			}
		}
		for i, p := range x.passes {
			if p != nil {
				require.LessOrEqual(t, met[i], int(x.supply.next), "more than there have ever been")
			}
		}
	}
}

func TestFirstFittersFindWhatAMPFinds(t *testing.T) {
	fitted := 0
	for seed := range uint64(500) {
		set, req, list, until := smallProblem(rand.New(rand.NewPCG(seed, 74)))
		for _, kind := range []Kind{Rough, Square} {
			for _, e := range finders(kind) {
				f := e.make(set)
				amp, same, ok := asFirstFit(f, req)
				if !ok {
					continue
				}
				want, err := f.Find(context.Background(), req, list, until)
				require.NoError(t, err)
				got, err := AMP{amp}.Find(context.Background(), same, list, until)
				require.NoError(t, err)
				require.Equal(t, want.OK, got.OK, "%s, seed %d", f.Name(), seed)
				require.Equal(t, want.Window, got.Window, "%s, seed %d", f.Name(), seed)
				fitted++
			}
		}
	}
	require.Greater(t, fitted, 1000)
}

// The price of ALP without a minimal performance is told by the slowest node of the
// list. Once that is taken the others may be dearer.
// Six nodes and a dearer one have time until 12, of which no three may be had. The
// dearer one is free again at 20, when all others have expired, and a cheap one is: two
// are not three.
//
//	0         12      20
//	1 to 6, X         X
//	                  Y
func TestANodeThatWasOneOfTheOthersIsACandidateOnce(t *testing.T) {
	var list plan.SlotList
	slot := func(id int, price float64, from, to des.Time) {
		node := &entity.Node{ID: id, Perf: 1, Price: price}
		for _, s := range list.Slots {
			if s.Node.ID == id {
				node = s.Node
			}
		}
		list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, Start: from * des.Second, End: to * des.Second})
	}
	for i := range 6 {
		slot(1+i, 6.5+0.05*float64(i), 0, 12)
	}
	slot(7, 7, 0, 12)
	slot(7, 7, 20, 40)
	slot(8, 4, 20, 40)
	list.To = 40 * des.Second
	req := entity.Request{Nodes: 3, Length: 10 * des.Second, Budget: 190}
	anew, err := AMP{}.Find(context.Background(), req, list, list.To)
	require.NoError(t, err)
	require.False(t, anew.OK)
	x, err := NewExhaustion(list, []Ask{{By: AMP{}, Request: req, Until: list.To}})
	require.NoError(t, err)
	found, err := x.Take(context.Background(), 0)
	require.NoError(t, err)
	require.False(t, found.OK, "%v", found.Window)
}

func TestAPriceMayRiseByACut(t *testing.T) {
	slow, fast := &entity.Node{ID: 1, Perf: 1, Price: 1}, &entity.Node{ID: 2, Perf: 2, Price: 2}
	list := plan.SlotList{To: 100 * des.Second, Slots: []entity.Slot{
		{Node: fast, Width: 1, Start: 0, End: 10 * des.Second}, {Node: slow, Width: 1, Start: des.Second, End: 11 * des.Second},
	}}
	x, err := NewExhaustion(list, []Ask{{By: ALP{}, Request: entity.Request{Nodes: 1, Length: 10 * des.Second, Budget: 10}, Until: list.To}})
	require.NoError(t, err)
	var starts []des.Time
	for {
		found, err := x.Take(context.Background(), 0)
		require.NoError(t, err)
		if !found.OK {
			break
		}
		starts = append(starts, found.Window.Start)
	}
	require.Equal(t, []des.Time{des.Second, 0, 5 * des.Second}, starts)
}

func TestAnExhaustionRefusesWhatMakesNoSense(t *testing.T) {
	n := &entity.Node{ID: 7, Perf: 1}
	slot := func(from, to des.Time) entity.Slot { return entity.Slot{Node: n, Width: 1, Start: from, End: to} }
	good := entity.Request{Nodes: 1, Length: 5}
	for _, c := range []struct {
		slots []entity.Slot
		ask   Ask
		says  string
	}{
		{[]entity.Slot{slot(0, 20), slot(10, 30)}, Ask{AMP{}, good, 100}, "on node 7 overlap"},
		{[]entity.Slot{slot(10, 20), slot(0, 5)}, Ask{AMP{}, good, 100}, "not in order"},
		{[]entity.Slot{slot(0, 20)}, Ask{AMP{Settings{Quantum: -1}}, good, 100}, "search 0: the quantum"},
		{[]entity.Slot{slot(0, 20)}, Ask{AMP{}, entity.Request{Nodes: 1}, 100}, "search 0: a request's length"},
		{[]entity.Slot{slot(0, 20)}, Ask{ALP{}, entity.Request{Nodes: 1, Length: 5, MinPerf: 1, Budget: math.Inf(1)}, 100}, "search 0: a request's budget must be finite"},
	} {
		_, err := NewExhaustion(plan.SlotList{To: 100, Slots: c.slots}, []Ask{c.ask})
		var bad *plan.BadInputError
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, c.says)
	}
}

func TestATurnEndsWithItsContext(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 75))
	list := manySlots(r, 12)
	ask := Ask{AMP{}, entity.Request{Nodes: 1, Length: des.Second}, list.To}
	x, err := NewExhaustion(list, []Ask{ask})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	found, err := x.Take(ctx, 0)
	require.NoError(t, err)
	require.True(t, found.OK)
	cancel()
	for range 2 {
		_, err = x.Take(ctx, 0)
		require.ErrorIs(t, err, context.Canceled)
	}
	found, err = x.Take(context.Background(), 0)
	require.NoError(t, err)
	require.True(t, found.OK, "it could go on")
}

// renamed is a search under another name, as a job file may have it.
type renamed struct{ plan.Finder }

func (renamed) Name() string          { return "another name" }
func (r renamed) Unwrap() plan.Finder { return r.Finder }

func TestASearchByAnotherNameGoesOnWhereItStopped(t *testing.T) {
	list := manySlots(rand.New(rand.NewPCG(1, 76)), 12)
	req := entity.Request{Nodes: 1, Length: des.Second}
	x, err := NewExhaustion(list, []Ask{{AMP{}, req, list.To}, {renamed{AMP{}}, req, list.To}})
	require.NoError(t, err)
	require.NotNil(t, x.passes[1])
	require.IsType(t, x.passes[0], x.passes[1])
}

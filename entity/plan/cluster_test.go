package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// ticks is the profile as an array: free processors at every tick of a short
// horizon, everything free behind it.
type ticks struct {
	free  []int
	procs int
}

func (p *ticks) at(t des.Time) int {
	if int(t) < len(p.free) {
		return p.free[t]
	}
	return p.procs
}

func (p *ticks) add(from, to des.Time, n int) {
	for t := from; t < to; t++ {
		p.free[t] += n
	}
}

// find looks for the earliest start in [from, until] by trying all.
func (p *ticks) find(nodes int, length, from, until des.Time) (des.Time, bool) {
	return p.findUpTo(des.Forever, nodes, length, from, until)
}

// findUpTo is find where there is room from the instant assured on in any case.
func (p *ticks) findUpTo(assured des.Time, nodes int, length, from, until des.Time) (des.Time, bool) {
	if nodes > p.procs {
		return 0, false
	}
	for start := from; start <= until; start++ {
		fits := p.at(start) >= nodes
		for t := start; t < min(start+length, assured) && fits; t++ {
			fits = p.at(t) >= nodes
		}
		if fits {
			return start, true
		}
	}
	return 0, false
}

func TestClusterIsAnArrayOfFreeProcessors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 20).Draw(t, "procs")
		c := NewCluster(procs)
		want := &ticks{make([]int, 2000), procs}
		want.add(0, 2000, procs)
		var now des.Time
		var held []*entity.Run
		var latest entity.Window // that was found
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			c.check(t)
			require.True(t, len(c.blocks) == 0 || c.blocks[0].first > c.origin)
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0: // time passes
				now += des.Time(rapid.IntRange(0, 30).Draw(t, "advance"))
				c.Forget(now)
				require.Equal(t, want.at(now), c.Free())
				if latest.Start < now {
					_, found := c.Find(entity.Request{Nodes: latest.Nodes, Length: latest.Length()}, latest.Start, latest.Start)
					require.False(t, found, "it is past")
				}
			case 1: // something ends early, or is cancelled
				if len(held) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				r := &held[i].Reservation
				at := max(now, des.Time(rapid.IntRange(0, 400).Draw(t, "at")))
				c.Release(r, at)
				want.add(min(max(at, r.Window.Start), r.Window.End), r.Window.End, r.Window.Nodes)
				held = append(held[:i], held[i+1:]...)
			case 2: // something ahead moves up
				if len(held) == 0 {
					continue
				}
				r := &held[rapid.IntRange(0, len(held)-1).Draw(t, "which")].Reservation
				w := r.Window
				if w.Start <= now {
					continue
				}
				want.add(w.Start, w.End, w.Nodes)
				start, ok := want.find(w.Nodes, w.Length(), now, w.Start-1)
				got, found := c.FindEarlier(r, now, des.Forever)
				require.Equal(t, ok, found)
				if ok {
					require.Equal(t, start, got.Start)
					if rapid.Bool().Draw(t, "ask") { // for what r has beside it
						want.add(w.Start, w.End, -w.Nodes)
						_, ok := want.find(w.Nodes, w.Length(), start, start)
						_, found := c.Find(entity.Request{Nodes: w.Nodes, Length: w.Length()}, start, start)
						require.Equal(t, ok, found)
						want.add(w.Start, w.End, w.Nodes)
					}
					require.NoError(t, c.Move(r, got))
				}
				want.add(r.Window.Start, r.Window.End, -w.Nodes)
			default:
				req := entity.Request{Nodes: rapid.IntRange(1, procs).Draw(t, "nodes"), Length: des.Time(rapid.IntRange(0, 60).Draw(t, "length"))}
				from := now + des.Time(rapid.IntRange(0, 40).Draw(t, "from"))
				until := from + des.Time(rapid.IntRange(0, 300).Draw(t, "until"))
				start, ok := want.find(req.Nodes, req.Length, from, until)
				w, found := c.Find(req, from, until)
				require.Equal(t, ok, found)
				if !ok {
					fits, nodes, length := c.FitsAt(from, req.Nodes, req.Length)
					require.False(t, fits)
					_, fits = want.find(nodes, length, from, from)
					require.False(t, fits, "a miss is a miss")
					require.True(t, nodes <= req.Nodes && length <= req.Length)
					continue
				}
				latest = entity.Window{Start: start, End: start + req.Length, Nodes: req.Nodes}
				require.Equal(t, latest, w)
				again, found := c.Find(req, start, start)
				require.True(t, found)
				require.Equal(t, latest, again)
				if w.End < 1900 && req.Length > 0 {
					j := entity.NewRun(&entity.Job{Request: req}, 0)
					_, err := c.Reserve(j, w)
					require.NoError(t, err)
					want.add(w.Start, w.End, -w.Nodes)
					held = append(held, j)
				}
			}
		}
		at := now
		for s := range c.Slots(now, 2000) {
			for ; at < s.Start; at++ {
				require.Zero(t, want.at(at), "between slots nothing is free")
			}
			for ; at < s.End; at++ {
				require.Equal(t, want.at(at), s.Width)
			}
		}
		for ; at < 2000; at++ {
			require.Zero(t, want.at(at))
		}
	})
}

func TestClusterRefusesWhatIsTaken(t *testing.T) {
	c := NewCluster(10)
	_, err := c.Reserve(entity.NewRun(&entity.Job{ID: 1}, 0), entity.Window{Start: 0, End: 10, Nodes: 6})
	require.NoError(t, err)

	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 2}, 0), entity.Window{Start: 9, End: 12, Nodes: 5})
	var conflict *entity.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.ErrorContains(t, err, "job 2")

	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 3}, 0), entity.Window{Start: 10, End: 12, Nodes: 10})
	require.NoError(t, err, "a window may begin where another ends")

	c.Forget(5)
	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 4}, 0), entity.Window{Start: 4, End: 6, Nodes: 1})
	require.ErrorAs(t, err, &conflict, "the past cannot be reserved")
}

// A search proves a window, and no longer one.
func TestALongerWindowThanWasFoundIsProvedAnew(t *testing.T) {
	c := NewCluster(10)
	_, err := c.Reserve(entity.NewRun(&entity.Job{ID: 1}, 0), entity.Window{Start: 10, End: 20, Nodes: 6})
	require.NoError(t, err)
	_, ok := c.Find(entity.Request{Nodes: 5, Length: 10}, 0, 0)
	require.True(t, ok)
	var conflict *entity.ConflictError
	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 2}, 1), entity.Window{Start: 0, End: 11, Nodes: 5})
	require.ErrorAs(t, err, &conflict)
	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 2}, 1), entity.Window{Start: 0, End: 10, Nodes: 5})
	require.NoError(t, err)
}

func TestWhatWasFoundIsProvedAnewWhereTheClusterIsOfAnotherSize(t *testing.T) {
	c := NewCluster(3)
	_, ok := c.Find(entity.Request{Nodes: 3, Length: 10}, 0, 0)
	require.True(t, ok)
	c.grow(-1)
	j := entity.NewRun(&entity.Job{ID: 1}, 0)
	var conflict *entity.ConflictError
	_, err := c.Reserve(j, entity.Window{Start: 0, End: 10, Nodes: 3})
	require.ErrorAs(t, err, &conflict)

	_, err = c.Reserve(j, entity.Window{Start: 20, End: 30, Nodes: 2})
	require.NoError(t, err)
	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 2}, 1), entity.Window{Start: 0, End: 15, Nodes: 1})
	require.NoError(t, err)
	_, ok = c.FindEarlier(&j.Reservation, 0, 10)
	require.False(t, ok)
	c.grow(1)
	w, ok := c.FindEarlier(&j.Reservation, 0, 10)
	require.True(t, ok, "a node that came makes room that nobody gave back")
	require.Equal(t, entity.Window{Start: 0, End: 10, Nodes: 2}, w)
}

// FindEarlier looks before the start that a reservation has, where that is the first
// instant that it may look at, too.
func TestTheStartThatAReservationHasIsNotEarlier(t *testing.T) {
	c := NewCluster(2)
	j := entity.NewRun(&entity.Job{ID: 1}, 0)
	_, err := c.Reserve(j, entity.Window{Start: 10, End: 20, Nodes: 1})
	require.NoError(t, err)
	_, ok := c.FindEarlier(&j.Reservation, 10, des.Forever)
	require.False(t, ok)
}

func TestAMoveThatAClusterRefusesChangesNothing(t *testing.T) {
	c := NewCluster(10)
	_, err := c.Reserve(entity.NewRun(&entity.Job{ID: 1}, 0), entity.Window{Start: 0, End: 10, Nodes: 6})
	require.NoError(t, err)
	j := entity.NewRun(&entity.Job{ID: 2}, 1)
	_, err = c.Reserve(j, entity.Window{Start: 10, End: 15, Nodes: 5})
	require.NoError(t, err)
	before := slices.Collect(c.Slots(0, 20))

	err = c.Move(&j.Reservation, entity.Window{Start: 8, End: 13, Nodes: 5})
	var conflict *entity.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, before, slices.Collect(c.Slots(0, 20)))
	require.Equal(t, entity.Window{Start: 10, End: 15, Nodes: 5}, j.Reservation.Window)
	require.True(t, j.Reservation.Active)
}

// What FindEarlier found is taken for granted where it still holds, and there alone.
func TestAMoveThatWasFoundEarlierIsProvedAnewWhereThePlanIsAnother(t *testing.T) {
	begin := func() (c *Cluster, first, second *entity.Run, w entity.Window) {
		c = NewCluster(10)
		first, second = entity.NewRun(&entity.Job{ID: 1}, 0), entity.NewRun(&entity.Job{ID: 2}, 1)
		for _, j := range []*entity.Run{first, second} {
			_, err := c.Reserve(j, entity.Window{Start: 10, End: 20, Nodes: 5})
			require.NoError(t, err)
		}
		_, err := c.Reserve(entity.NewRun(&entity.Job{ID: 3}, 2), entity.Window{Start: 0, End: 6, Nodes: 5})
		require.NoError(t, err)
		_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 4}, 3), entity.Window{Start: 6, End: 10, Nodes: 1})
		require.NoError(t, err)
		w, ok := c.FindEarlier(&first.Reservation, 0, des.Forever)
		require.True(t, ok)
		require.Equal(t, entity.Window{Start: 0, End: 10, Nodes: 5}, w)
		return c, first, second, w
	}
	refused := func(err error) {
		t.Helper()
		var conflict *entity.ConflictError
		require.ErrorAs(t, err, &conflict)
	}
	c, first, _, w := begin()
	_, err := c.Reserve(entity.NewRun(&entity.Job{ID: 5}, 4), entity.Window{Start: 2, End: 4, Nodes: 1})
	require.NoError(t, err)
	refused(c.Move(&first.Reservation, w)) // another one is there by now

	c, first, _, w = begin()
	c.Forget(1)
	refused(c.Move(&first.Reservation, w)) // it would begin in the past

	var second *entity.Run
	c, first, second, _ = begin()
	c.Release(&second.Reservation, 0)
	_, err = c.Reserve(second, entity.Window{Start: 13, End: 23, Nodes: 5})
	require.NoError(t, err)
	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 5}, 4), entity.Window{Start: 10, End: 13, Nodes: 5})
	require.NoError(t, err)
	w, ok := c.FindEarlier(&first.Reservation, 3, des.Forever)
	require.True(t, ok)
	require.Equal(t, entity.Window{Start: 3, End: 13, Nodes: 5}, w)
	refused(c.Move(&second.Reservation, w)) // it overlaps what the first one has

	c, first, second, _ = begin()
	w, ok = c.FindEarlier(&second.Reservation, 3, des.Forever)
	require.True(t, ok)
	require.Equal(t, entity.Window{Start: 3, End: 13, Nodes: 5}, w)
	_, err = c.Reserve(entity.NewRun(&entity.Job{ID: 6}, 5), w)
	refused(err) // there is room for it only as it gives up what it has
	refused(c.Move(&first.Reservation, entity.Window{Start: 3, End: 13, Nodes: 6}))
	require.NoError(t, c.Move(&second.Reservation, w))
	require.Equal(t, w, second.Reservation.Window)
}

func TestAReservationCanBePutOffToWhereThereIsRoom(t *testing.T) {
	for name, ask := range map[string]func(*Cluster) bool{
		"Find": func(c *Cluster) bool {
			_, ok := c.Find(entity.Request{Nodes: 6, Length: 10}, 30, des.Forever)
			return ok
		},
		"FitsAt": func(c *Cluster) bool { ok, _, _ := c.FitsAt(30, 6, 10); return ok },
	} {
		t.Run(name, func(t *testing.T) { putOff(t, ask) })
	}
}

func putOff(t *testing.T, ask func(*Cluster) bool) {
	c := NewCluster(10)
	j := entity.NewRun(&entity.Job{ID: 1}, 0)
	_, err := c.Reserve(j, entity.Window{Start: 10, End: 20, Nodes: 6})
	require.NoError(t, err)
	_, ok := c.FindEarlier(&j.Reservation, 0, des.Forever)
	require.True(t, ok)
	require.True(t, ask(c))
	require.NoError(t, c.Move(&j.Reservation, entity.Window{Start: 30, End: 40, Nodes: 6}))
	require.Equal(t, []entity.Slot{{Width: 10, Start: 0, End: 30}, {Width: 4, Start: 30, End: 40}, {Width: 10, Start: 40, End: 50}}, slices.Collect(c.Slots(0, 50)))
}

func TestClusterLetsAJobHoldOneReservation(t *testing.T) {
	c := NewCluster(10)
	j := entity.NewRun(&entity.Job{ID: 1}, 0)
	_, err := c.Reserve(j, entity.Window{Start: 0, End: 10, Nodes: 1})
	require.NoError(t, err)
	_, err = c.Reserve(j, entity.Window{Start: 20, End: 30, Nodes: 1})
	require.ErrorContains(t, err, "already holds")
	c.Release(&j.Reservation, 0)
	c.Release(&j.Reservation, 0)
	require.Equal(t, 10, c.Free(), "releasing twice gives back once")

	_, err = c.Reserve(j, entity.Window{Start: 0, End: 10, Nodes: 1})
	require.NoError(t, err)
	c.Forget(10)
	c.Release(&j.Reservation, 5)
	require.Equal(t, 10, c.Free(), "what is over gives nothing back")
}

func TestClusterSaysWhyARequestNeverFits(t *testing.T) {
	c := NewCluster(4)
	require.ErrorContains(t, c.Fits(entity.Request{Nodes: 5, Length: 1}), "wants 5 processors of a cluster of 4")
	require.ErrorContains(t, c.Fits(entity.Request{Nodes: 0, Length: 1}), "at least 1 node")
	require.NoError(t, c.Fits(entity.Request{Nodes: 4, Length: 1}))
}

// BenchmarkCluster is a reservation found, made and given back, with so many
// others in the plan: it grows with the logarithm of their number.
func BenchmarkCluster(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := NewCluster(64)
			for i := range n {
				start := des.Time(i) * 10
				if _, err := c.Reserve(entity.NewRun(&entity.Job{}, 0), entity.Window{Start: start, End: start + 15, Nodes: 1 + i%32}); err != nil {
					b.Fatal(err)
				}
			}
			j := entity.NewRun(&entity.Job{}, 0)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 7919) % n
				w, ok := c.Find(entity.Request{Nodes: 20, Length: 12}, des.Time(i)*10, des.Forever)
				if !ok {
					b.Fatal("nothing found")
				}
				r, err := c.Reserve(j, w)
				if err != nil {
					b.Fatal(err)
				}
				c.Release(r, 0)
			}
		})
	}
}

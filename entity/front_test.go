package entity

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

// fits reports whether any of the requests asks for at most that many nodes and that length.
func fits(requests []step, nodes int, length des.Time) bool {
	for _, r := range requests {
		if r.nodes <= nodes && r.length <= length {
			return true
		}
	}
	return false
}

// A front tells of every room whether a request fits; a front that was coarsened may only say that
// one fits where none does, never the other way round.
func TestAFrontNeverDeniesARequestThatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{3, 12, 200}).Draw(t, "most")
		number := rapid.IntRange(1, most)
		var requests []step
		var f front
		parts := make([]*front, rapid.IntRange(1, 4).Draw(t, "parts"))
		sums := make([]queueSum, len(parts))
		exact := true
		for k := range parts {
			items := make([]queued, rapid.IntRange(1, 60).Draw(t, "items"))
			for i := range items {
				r := step{number.Draw(t, "nodes"), des.Time(number.Draw(t, "length"))}
				if rapid.IntRange(0, 9).Draw(t, "hard") > 0 && most == 200 { // the wider the shorter: all are on the front
					r.length = des.Time(201 - r.nodes)
				}
				requests = append(requests, r)
				items[i].nodes, items[i].length = r.nodes, r.length
			}
			sums[k] = queueAlgebra{}.Summarise(items)
			if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
				parts[k] = &front{count: 5} // Detail replaces it
				queueAlgebra{}.Detail(parts[k], items)
			} else {
				exact = false
			}
		}
		queueAlgebra{}.JoinDetails(&f, sums, parts)
		steps := f.steps[:f.count]
		require.NotEmpty(t, steps)
		for i := range steps[1:] {
			require.Less(t, steps[i].nodes, steps[i+1].nodes)
			require.Greater(t, steps[i].length, steps[i+1].length)
		}
		for _, r := range requests {
			require.True(t, fits(steps, r.nodes, r.length), "%v of %v deny %v", steps, requests, r)
		}
		for range 50 {
			nodes, length := number.Draw(t, "free"), des.Time(number.Draw(t, "time"))
			want := fits(requests, nodes, length)
			if want || exact && most <= frontSteps { // such a front has no more steps than there are nodes
				require.Equal(t, want, fits(steps, nodes, length), "%v of %v in %d for %d", steps, requests, nodes, length)
			}
		}
	})
}

// Where a front has no room for a step, each two neighbours become their corner, and the last of an odd number stays.
func TestAFrontThatIsFullKeepsTheCorners(t *testing.T) {
	var f front
	for n := 1; n <= frontSteps+1; n++ {
		f.add(step{n, des.Time(100 - n)})
	}
	var want []step
	for n := 1; n < frontSteps; n += 2 {
		want = append(want, step{n, des.Time(100 - n - 1)})
	}
	require.Equal(t, append(want, step{frontSteps + 1, 100 - frontSteps - 1}), f.steps[:f.count])
	f.coarsen()
	require.Equal(t, []step{{1, 96}, {5, 92}, {9, 88}, {13, 84}, {17, 83}}, f.steps[:f.count])
}

// narrow is a plan with that many free nodes for that length from now on.
type narrow struct {
	noPlan
	nodes  int
	length des.Time
}

func (p narrow) FitsAt(_ des.Time, nodes int, length des.Time) (bool, int, des.Time) {
	if nodes > p.nodes {
		return false, p.nodes + 1, 0
	}
	return length <= p.length, nodes, length
}

func (p narrow) Find(req Request, from, _ des.Time) (Window, bool) {
	return Window{Start: from, End: from + req.Length, Nodes: req.Nodes}, req.Nodes <= p.nodes && req.Length <= p.length
}

// counted is a scan that counts the jobs it is shown.
type counted struct {
	*queueScan
	shown int
}

func (c *counted) Visit(items []queued) bool {
	c.shown += len(items)
	return c.queueScan.Visit(items)
}

// Of 20,000 jobs none fits: each leaf of the queue has narrow jobs and short ones, and none that is
// both. A scan looks at all of them once; after that only at what has changed.
func TestAScanPassesOverPartsOfWhichNoJobFits(t *testing.T) {
	const jobs = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	q := &Queue{}
	add := func(seq int64, nodes int, length des.Time) *Run {
		r := NewRun(&Job{ID: seq, Request: Request{Nodes: nodes, Length: length}}, seq)
		r.State = Waiting
		q.add(r)
		return r
	}
	var last *Run
	for seq := range int64(jobs) {
		nodes, length := 41+rng.IntN(1000), des.Time(1+rng.IntN(100))*des.Second
		if rng.IntN(2) == 0 {
			nodes, length = 1+rng.IntN(40), des.Time(401+rng.IntN(100_000))*des.Second
		}
		last = add(seq, nodes, length)
	}
	shown := func(found bool) int {
		v := q.By(Submission, 0)
		c := &counted{queueScan: v.begin(narrow{nodes: 40, length: 400 * des.Second}, 0, 0)}
		c.batch, c.found = 1, nil
		v.tree.Scan(c)
		require.Equal(t, found, len(c.found) > 0)
		require.Equal(t, math.MaxInt-q.Len(), c.left, "jobs that are passed over count, too")
		return c.shown
	}
	require.Equal(t, jobs, shown(false))
	require.Zero(t, shown(false))
	q.remove(last)
	require.Less(t, shown(false), 64)
	require.Zero(t, shown(false))
	add(jobs, 40, 400*des.Second)
	require.Less(t, shown(true), 64)
}

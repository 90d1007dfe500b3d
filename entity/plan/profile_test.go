package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// check holds the profile to what it says of itself.
func (p *profile) check(t require.TestingT) {
	last, falls := level{-1, p.free}, 0
	for k := range p.blocks {
		b := &p.blocks[k]
		require.NotEmpty(t, b.levels)
		require.LessOrEqual(t, len(b.levels), blockSize)
		require.Equal(t, b.levels[0].at, b.first)
		for _, l := range b.levels {
			l.free += b.base
			require.Greater(t, l.at, last.at)
			require.NotEqual(t, last.free, l.free, "nothing changes at %v", l.at)
			require.True(t, b.low <= l.free && l.free <= b.high)
			if l.free < last.free {
				falls++
			}
			last = l
		}
		for w := range b.holes {
			if b.known&(1<<w) != 0 {
				anew := block{base: b.base, levels: b.levels}
				anew.learn(w)
				require.Equal(t, anew.holes[w], b.holes[w], "block %d, width %d", k, 1<<w)
			}
		}
	}
	require.Equal(t, falls, p.falls)
}

// A plan of some hundred levels, so that there are several blocks, changes at random as
// reservations do: most come or go as a whole, many move a little.
func TestAProfileOfManyBlocksIsAnArrayOfFreeProcessors(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const procs = 40
		horizon := []des.Time{300, 3000}[seed%2] // with a level at nearly every tick, or between many
		c := NewCluster(procs)
		want := &ticks{make([]int, 2*horizon), procs}
		want.add(0, 2*horizon, procs)
		type taken struct {
			from, to des.Time
			nodes    int
		}
		var held []taken
		change := func(from, to des.Time, delta int) {
			c.add(from, to, delta)
			if from < to {
				want.add(from, to, delta)
			}
		}
		var now, length des.Time
		nodes := 1
		for step := range 3000 {
			if rng.IntN(40) == 0 {
				gains := false
				for range rng.IntN(5) {
					now++
					gains = gains || want.at(now) > want.at(now-1)
				}
				require.Equal(t, gains, c.Forget(now))
				require.Equal(t, want.at(now), c.Free())
			}
			if rng.IntN(100) == 0 { // a node comes, or leaves again
				by := 1 - 2*(c.procs-procs)
				c.grow(by)
				want.procs += by
				want.add(0, 2*horizon, by)
			}
			grows := step/600%2 == 0
			switch i := rng.IntN(len(held) + 1); {
			case i == len(held) || (grows && len(held) < 500 && rng.IntN(3) > 0):
				from := now + des.Time(rng.IntN(int(horizon-now)))
				h := taken{from, from + 1 + des.Time(rng.IntN(100)), 1 + rng.IntN(3)}
				if rng.IntN(50) == 0 {
					h.to = from + des.Time(rng.IntN(int(horizon)))
				}
				change(h.from, h.to, -h.nodes)
				held = append(held, h)
			case !grows || rng.IntN(3) == 0:
				h := held[i]
				change(max(now, h.from), h.to, h.nodes)
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
			case held[i].from > now+5:
				h := &held[i]
				by := min(des.Time(1+rng.IntN(5)), h.to-h.from)
				change(h.from-by, h.from, -h.nodes)
				change(h.to-by, h.to, h.nodes)
				h.from, h.to = h.from-by, h.to-by
			}
			if step%10 == 0 {
				c.check(t)
			}
			from := now + des.Time(rng.IntN(int(horizon)))
			if rng.IntN(2) == 0 {
				from = now
			}
			if rng.IntN(3) == 0 { // otherwise as much as the search before, or a little more
				nodes, length = 1+rng.IntN(procs), des.Time(rng.IntN(80))
			} else if from = now; rng.IntN(4) == 0 {
				nodes, length = min(nodes+rng.IntN(2), procs), length+des.Time(rng.IntN(2))
			}
			until := from + des.Time(rng.IntN(int(horizon)))
			assured := des.Forever
			if rng.IntN(2) == 0 { // there is room from then on, as for a job that gives up its own
				assured = until + 1
			}
			at, ok := c.find(nodes, length, from, until, assured)
			wantAt, wantOK := want.findUpTo(assured, nodes, length, from, until)
			require.Equal(t, wantOK, ok, "seed %d, step %d", seed, step)
			if ok {
				require.Equal(t, wantAt, at, "seed %d, step %d", seed, step)
			}
			fits, missNodes, missLength := c.FitsAt(from, nodes, length)
			_, wantFits := want.find(nodes, length, from, from)
			require.Equal(t, wantFits, fits, "seed %d, step %d", seed, step)
			if !fits {
				_, fits = want.find(missNodes, missLength, from, from)
				require.False(t, fits, "a miss is a miss")
				require.True(t, missNodes <= nodes && missLength <= length)
			}
		}
	}
}

// All processors are busy for half of the time, in many short turns, and of the pauses between
// two turns one is a little longer: just long enough, and no later than it may begin.
func TestTheOneHoleThatIsJustLongEnoughIsFound(t *testing.T) {
	const turns, procs = 200, 8
	for _, odd := range []des.Time{0, 5} { // a level more, so that other levels are the last of a block
		c := NewCluster(procs)
		c.add(0, odd, -1)
		for i := range des.Time(turns) {
			c.add(20*i+10, 20*i+20, -procs)
		}
		for hole := 4 * odd; hole < 20*turns; hole += 20 {
			c.add(hole+10, hole+15, procs)
			c.check(t)
			for _, nodes := range []int{procs, procs - 3} {
				find := func(length, until des.Time) des.Time {
					if at, ok := c.find(nodes, length, 0, until, des.Forever); ok {
						return at
					}
					return -1
				}
				require.Equal(t, hole, find(15, des.Forever))
				require.Equal(t, hole, find(15, hole))
				require.EqualValues(t, -1, find(15, hole-1))
				require.EqualValues(t, 20*turns, find(16, des.Forever))
				require.EqualValues(t, 20*turns, find(16, 20*turns))
				require.EqualValues(t, -1, find(16, 20*turns-1))
			}
			c.add(hole+10, hole+15, -procs)
		}
		c.add(10, 15, procs) // a hole that is open from the beginning, with a level in it or without
		at, ok := c.find(procs-3, 15, 0, des.Forever, des.Forever)
		require.True(t, ok)
		require.EqualValues(t, 0, at)
	}
}

// What is remembered of a block is where holes of fewer processors are: one that is open at the
// end of a block, and goes on for ever, says that a wider one may begin in this block or later.
func TestAHoleIsNotTakenForOneOfFewerProcessors(t *testing.T) {
	const procs, later = 8, 200
	for early := range des.Time(2 * blockSize) {
		c := NewCluster(procs)
		for i := range early {
			c.add(10*i, 10*i+10, []int{-8, -3}[i%2])
		}
		for i := early; i < early+later; i += 2 {
			c.add(10*i, 10*i+10, -1)
		}
		for until, want := range map[des.Time]bool{des.Forever: true, 10 * early: true, 10*early - 1: false} {
			at, ok := c.find(7, 5000, 0, until, des.Forever)
			require.Equal(t, want, ok, "%d early levels", early)
			if ok {
				require.Equal(t, 10*early, at)
			}
		}
	}
}

// crowded is a cluster of 3 processors of which, at every tick before the instant to, 0 or 1
// is free: there is a level at each of these ticks.
func crowded(to des.Time) *Cluster {
	c := NewCluster(3)
	for t := range to {
		c.add(t, t+1, -2-int(t%2))
	}
	return c
}

func TestASearchThatHasFailedDoesNotHideARoomThatBeginsWithABlock(t *testing.T) {
	for to := des.Time(2); to < 3*blockSize; to++ {
		c := crowded(to)
		_, ok := c.find(2, 5, 0, to-2, des.Forever)
		require.False(t, ok)
		at, ok := c.find(2, 5, 0, 4*blockSize, des.Forever)
		require.True(t, ok)
		require.Equal(t, to, at)
	}
}

func TestASearchThatHasFailedDoesNotHideBlocksThatAreGivenBack(t *testing.T) {
	for k := range 3 {
		c := crowded(5 * blockSize)
		at, ok := c.find(2, 5, 0, des.Forever, des.Forever)
		require.True(t, ok)
		require.Equal(t, 5*des.Time(blockSize), at)
		from := c.blocks[k+1].first
		c.add(from, c.blocks[k+2].first, 2)
		at, ok = c.find(2, 5, 0, des.Forever, des.Forever)
		require.True(t, ok)
		require.Equal(t, from, at)
	}
}

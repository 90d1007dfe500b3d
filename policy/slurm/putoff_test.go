package slurm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// Of two jobs of a shape the longer one lacks CPUs if the shorter one does, as a plan is in its way; the shorter one may have them
// though the longer one does not. A job of another partition is another question.
func TestALackHoldsForJobsThatLastAsLong(t *testing.T) {
	c := newRuled(t, "SelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=1\nPartitionName=all Nodes=ALL\nPartitionName=same Nodes=ALL\n", "")
	now := c.second(10 * des.Second)
	run := func() *backfillRun {
		r := &backfillRun{c: c.Controller, now: 10 * des.Second, second: now, table: newTable(nil, now, 40_000, 60, 500, c.up, nil, &c.plans, &c.spare)}
		first := newNodeSet(2)
		first.add(0)
		r.table.plan(now+1200, now+9000, need{nodes: first})
		return r
	}
	r := run()
	lacks := func(minutes des.Time, part int) bool {
		j := &Job{ID: 1, Tasks: 2, Partitions: []int{part}, Limit: minutes * des.Minute}
		return r.lacksCPUs(&entry{job: j, part: c.parts[part], found: newFinding(2)})
	}
	require.True(t, lacks(60, 0))
	require.True(t, lacks(120, 0))
	require.False(t, lacks(5, 0), "it is over before the plan begins")
	require.True(t, lacks(30, 0))
	require.True(t, lacks(30, 1))
	r.table = newTable(nil, now, 40_000, 60, 500, c.up, nil, &c.plans, &c.spare) // without the plan
	require.True(t, lacks(40, 0), "it is remembered of 30 minutes")
	require.False(t, lacks(5, 0))
	r = run()
	require.False(t, lacks(5, 1))
	require.Empty(t, r.lacking)
}

// Whether a job of any shape fits on idle nodes is whether a choice among them finds any.
func TestFitsIdleIsWhetherAChoiceFits(t *testing.T) {
	fits, not := 0, 0
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		nodes := 3 + rnd.IntN(70)
		c := newRuled(t, fmt.Sprintf("SelectTypeParameters=%s\nNodeName=n[1-%d] CPUs=4 RealMemory=4000\nNodeName=n[%d-%d] CPUs=8 RealMemory=6000 Feature=big\nPartitionName=all Nodes=ALL\nPartitionName=few Nodes=ALL MaxNodes=%d\n",
			[]string{"CR_Core", "CR_Core_Memory", "CR_Core_Memory,CR_LLN"}[rnd.IntN(3)], nodes/2, nodes/2+1, nodes, 1+rnd.IntN(4)), "")
		for id := range 60 {
			j := &Job{ID: id + 1, Tasks: 1 + rnd.IntN(3*nodes), Partitions: []int{rnd.IntN(2)}, Limit: des.Minute, MemoryPerCPU: []int{500, 1100, 3000}[rnd.IntN(3)]}
			switch rnd.IntN(8) {
			case 0:
				j.Nodes = 1 + rnd.IntN(3)
			case 1:
				j.CPUsPerTask = 2
			case 2:
				j.Exclusive = true
			case 3:
				j.Features = []string{"big"}
			}
			among := newNodeSet(nodes)
			for n := range nodes {
				if rnd.IntN(3) > 0 {
					among.add(n)
				}
			}
			e := &entry{job: j, part: c.parts[j.Partitions[0]]}
			want := c.fitIdle(e, among) != nil
			require.Equal(t, want, c.fitsIdle(e, among), "set-up %d: job %d", seed, j.ID)
			if want {
				fits++
			} else {
				not++
			}
		}
	}
	require.Greater(t, fits, 500)
	require.Greater(t, not, 500)
}

// Slurm makes no plan once the table has as many records as bf_node_space_size. A plan within an interval adds two, one for each of
// its ends.
func TestTheTableIsFullWhenItHasItsRecords(t *testing.T) {
	c := newRuled(t, fourNodes, "")
	for size, full := range map[int][]bool{5: {false, false, true}, 6: {false, false, false, true}} { // after 0, 1, 2, 3 plans
		r := &backfillRun{c: c.Controller, table: newTable(nil, 0, 40_000, 60, size, c.up, nil, &c.plans, &c.spare)}
		c.backfill.trail.begin(c.Controller, r.table.windowEnd())
		for plans, want := range full {
			for more := range 3 {
				require.Equal(t, 1+2*(plans+more) < size, r.hasRoom(more), "size %d: %d plans and %d more", size, plans, more)
			}
			require.Equal(t, want, r.full(), "size %d: %d plans", size, plans)
			at := int64(plans) * 1200
			r.plan(at+300, at+600, need{nodes: c.up})
		}
	}
}

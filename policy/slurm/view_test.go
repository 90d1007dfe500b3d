package slurm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// TestViewsPassOverWhatIsVain fills tables by chance while jobs run, and holds views to what the sets of the table say:
// what they count; and that chance passes over no second at which a job might be planned, and comes to none at which
// backfill would not look.
func TestViewsPassOverWhatIsVain(t *testing.T) {
	passed, came := 0, 0
	for seed := range 300 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 3))
		nodes := 3 + rnd.IntN(80)
		c := newRuled(t, fmt.Sprintf("SelectTypeParameters=CR_Core\nNodeName=n[1-%d] CPUs=2\nNodeName=n[%d-%d] CPUs=5\nPartitionName=all Nodes=ALL MaxTime=9-0\nPartitionName=part Nodes=n[2-%d] MaxTime=9-0\n",
			nodes/2, nodes/2+1, nodes, nodes-1), "")
		for range nodes {
			c.submit(0, &Job{Tasks: 1 + rnd.IntN(4), Limit: des.Time(1+rnd.IntN(300)) * des.Minute})
		}
		c.until(10 * des.Second)
		now := c.second(10 * des.Second)
		r := &backfillRun{c: c.Controller, now: 10 * des.Second, second: now,
			table: newTable(nil, now, 40_000, 300, 500, c.up, nil, &c.plans, &c.spare)}
		r.table.cpus = c.idle.cpus
		id := 1000
		for range 40 {
			id++
			j := &Job{ID: id, Tasks: 1 + rnd.IntN(2*nodes), Partitions: []int{rnd.IntN(2)}, Limit: des.Time(1+rnd.IntN(400)) * des.Minute}
			if rnd.IntN(4) == 0 {
				j.Nodes = 1 + rnd.IntN(3)
			}
			e := &entry{job: j, part: c.parts[j.Partitions[0]], found: newFinding(nodes)}
			start, tested, passes := now+int64(rnd.IntN(2)*rnd.IntN(9000)), rnd.IntN(5) > 0, rnd.IntN(3) > 0 && r.passesOver(e)
			for at := start; ; {
				r.until = never
				second, any := r.chance(e, at, false, tested, passes)
				if o := r.table.openingFrom(at, at+int64(j.Limit/des.Second), need{nodes: e.part.nodes}); at == now {
					require.LessOrEqual(t, r.until, min(o.first, o.beyond-int64(j.Limit/des.Second)), "set-up %d: job %d", seed, id)
				} else {
					require.LessOrEqual(t, r.until, at, "set-up %d: job %d", seed, id)
				}
				for at != second || !any {
					o, _ := r.openingFrom(e, at)
					r.table.narrow(o)
					c.spare.back(0)
					o.nodes.intersect(c.shapeOf(e).fit)
					enough := o.nodes.count() >= max(j.Nodes, 1) && (!tested || c.haveIdle(o.nodes, c.shapeOf(e).demand.cpus))
					late := tested && passes && o.later > 0 && c.soonestAmong(o.nodes, c.shapeOf(e).demand.cpus, never) > o.later
					require.False(t, enough && !late, "set-up %d: job %d is passed over at %d", seed, id, at)
					passed++
					if at = o.later; at == 0 {
						break
					}
				}
				require.Equal(t, any, at != 0, "set-up %d: job %d: there is no other second to look at", seed, id)
				if !any {
					break
				}
				came++
				o, _ := r.openingFrom(e, second)
				r.table.narrow(o)
				c.spare.back(0)
				o.nodes.intersect(c.shapeOf(e).fit)
				soonest := c.soonestAmong(o.nodes, c.shapeOf(e).demand.cpus, never)
				switch {
				case !c.haveIdle(o.nodes, c.shapeOf(e).demand.cpus):
					r.noteVain(e, o, nil, second, never)
				case passes && soonest > o.later:
					r.noteVain(e, o, o.nodes, second, soonest)
				}
				if at = o.later; at == 0 {
					break
				}
			}
			taken := c.up.clone()
			begin := start + int64(rnd.IntN(3)*rnd.IntN(20_000))
			end := begin + int64(j.Limit/des.Second)
			for n := range c.up.all {
				if rnd.IntN(5) > 0 {
					taken.drop(n)
				}
			}
			if rnd.IntN(4) > 0 { // nodes that are free in all of the plan, as those of backfill's plans are
				o := r.table.openingFrom(begin/300*300, end/300*300, need{nodes: taken})
				r.table.narrow(&o)
				c.spare.back(0)
				taken = o.nodes.clone()
			}
			r.table.plan(begin/300*300, end/300*300, need{nodes: taken})
			for _, v := range r.table.views {
				if v == nil {
					continue
				}
				for k := range r.table.intervals {
					was := v.spans[k]
					v.count(r.table, k, k+1)
					require.Equal(t, v.spans[k], was, "set-up %d: interval %d", seed, k)
				}
				require.Len(t, v.spans, len(r.table.intervals))
			}
		}
	}
	t.Logf("%d seconds were passed over, %d were come to", passed, came)
	require.Greater(t, passed, 10_000)
	require.Greater(t, came, 10_000)
}

// TestLooksSpareNoWorkThatMatters makes looks for jobs of all kinds while others start and end, and holds them to looks of
// a controller that spares nothing, and what bounds them to what is so now.
func TestLooksSpareNoWorkThatMatters(t *testing.T) {
	for seed := range 150 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 4))
		nodes := 4 + rnd.IntN(70)
		conf := fmt.Sprintf("SelectTypeParameters=%s\nNodeName=n[1-%d] CPUs=4 Weight=%d\nNodeName=n[%d-%d] CPUs=8\nPartitionName=all Nodes=ALL\nPartitionName=few Nodes=ALL MaxNodes=%d\n",
			[]string{"CR_Core", "CR_Core,CR_LLN"}[rnd.IntN(2)], nodes/2, 1+rnd.IntN(2), nodes/2+1, nodes, 1+rnd.IntN(4))
		c := newRuled(t, conf, "")
		any := func() *Job {
			j := &Job{Tasks: 1 + rnd.IntN(2*nodes), Partitions: []int{rnd.IntN(2)}, Limit: des.Time(1+rnd.IntN(300)) * des.Minute}
			switch rnd.IntN(6) {
			case 0:
				j.Nodes = 1 + rnd.IntN(3)
			case 1:
				j.CPUsPerTask = 2
			case 2:
				j.Exclusive = true
			}
			return j
		}
		var waits []*Job
		for round := range 20 {
			now := des.Time(round+1) * 100 * des.Second
			for range 4 {
				j := any()
				if j.Partitions[0] == 1 {
					j.Tasks = 1 + rnd.IntN(4)
				}
				if err := c.try(now-50*des.Second, j); err == nil {
					waits = append(waits, j)
				}
			}
			c.until(now)
			for _, j := range c.running {
				if rnd.IntN(4) == 0 {
					c.End(now, j)
					c.Release(now, j)
					break
				}
			}
			for _, j := range waits {
				if j.state != pending {
					continue
				}
				e := j.entries[0]
				among := e.part.nodes.clone()
				among.intersect(c.shapeOf(e).fit)
				require.Equal(t, c.soonestAmong(among, c.shapeOf(e).demand.cpus, never), c.soonestIn(e), "set-up %d: job %d", seed, j.ID)
				second, on, _ := c.willRun(e, among, c.second(now), false)
				on = on.clone()
				c.forgetful = true
				wantSecond, wantOn, _ := c.willRun(e, among, c.second(now), false)
				c.forgetful = false
				require.Equal(t, wantSecond, second, "set-up %d: job %d", seed, j.ID)
				require.Equal(t, wantOn.clone(), on, "set-up %d: job %d", seed, j.ID)
			}
		}
	}
}

// An opening is what Slurm's loop over the table finds (_try_sched and the search for later_start in sched/backfill): it
// goes from interval to interval, keeps the nodes that are free in each, and notes the end of the first interval whose next one
// has a node that is not kept.
func TestOpeningsAreThoseOfSlurmsLoop(t *testing.T) {
	const nodes, now = 150, 600
	others, licensed := 0, 0
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(12, seed))
		some := func(of int) nodeSet {
			set := newNodeSet(nodes)
			for n := range nodes {
				if rnd.IntN(of) == 0 {
					set.add(n)
				}
			}
			return set
		}
		var licenses map[string]int
		if seed%2 == 0 {
			licenses = map[string]int{"matlab": 9}
		}
		table := newTable(nil, now, 12_000, 60, 1000, allNodes(nodes), licenses, &spareSets{nodes: nodes}, &spareSets{nodes: nodes})
		for range 30 {
			begin := int64(now + 60*rnd.IntN(150))
			table.plan(begin, begin+int64(60*rnd.IntN(80)), need{nodes: some(1 + rnd.IntN(6)), licenses: []Amount{{Kind: "matlab", Count: rnd.IntN(3)}}})
			start := now + int64(rnd.IntN(13_000))
			end := start + int64(rnd.IntN(6000))
			if rnd.IntN(2) == 0 {
				start, end = start/60*60, end/60*60
			}
			wants := need{nodes: some(1 + rnd.IntN(3)), licenses: []Amount{{Kind: "matlab", Count: rnd.IntN(4)}}}
			want := opening{nodes: wants.nodes.clone(), licensed: true, first: never, beyond: never}
			for k, i := range table.intervals {
				if i.end <= start {
					continue
				}
				if k+1 < len(table.intervals) && want.later == 0 {
					kept := want.nodes.clone()
					kept.intersect(i.free)
					gained := table.intervals[k+1].free.clone()
					gained.intersect(wants.nodes)
					if !gained.within(kept) {
						want.later = i.end
					}
				}
				if want.first = min(want.first, i.end); i.begin > end {
					want.beyond = i.begin
					break
				}
				want.nodes.intersect(i.free)
				if !i.licensed(wants.licenses) {
					want.licensed, want.later = false, i.end
				}
			}
			got := table.openingFrom(start, end, wants)
			table.narrow(&got)
			got.from, got.to = 0, 0
			require.Equal(t, want, got, "set-up %d", seed)
			if want.later > 0 && want.licensed {
				others++
			}
			if !want.licensed {
				licensed++
			}
		}
	}
	require.Greater(t, others, 1000)
	require.Greater(t, licensed, 500)
}

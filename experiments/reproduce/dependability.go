package reproduce

// A question that DEP18 raises and does not test: what is a dependable window
// worth where tasks do not end in time?

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// Dependability places a stream of jobs on nodes whose tasks overrun.
//
// Owners' tasks are planned, jobs come over time and each gets a window in what
// is free by then. With some probability a task, an owner's or a job's on one of
// its nodes, takes longer than planned; what stands behind it on the node then
// starts late, and a job starts when the last of its nodes is free:
//
//	planned  A A A A . . J J J J      A overruns by 4:
//	         B B . . . . J J J J
//	real     A A A A A A A A J J J J  both nodes of J start 2 later,
//	         B B . . . . . . J J J J  and B's stands idle
//
// When a job comes everything that has happened is known, and that a task which
// should have ended goes on; nothing is known of what will. Nobody is cut off and
// nothing is planned anew: the order on a node stays.
type Dependability struct {
	Environment vo.Environment
	Jobs        int
	Gap         vo.Range // between submissions
	Nodes       vo.Range // n
	Volume      vo.Range
	// Money is the budget for a unit of work; DEP18 gives 644 for 7 times 800.
	Money float64
	// Overruns are the probabilities of an overrun that are compared.
	Overruns []float64
	// Excess is the range of an overrun as a share of the time planned.
	Excess vo.Range
	// Soon is how long after the first fit the windows of the searches so called may
	// start.
	Soon des.Time
}

// NewDependability is the experiment with our settings.
func NewDependability() Dependability {
	e := vo.DEP18()
	e.Nodes.Count = 40
	return Dependability{
		Environment: e, Jobs: 30, Gap: vo.Range{Min: 0, Max: 40}, Nodes: vo.Range{Min: 2, Max: 7},
		Volume: vo.Range{Min: 400, Max: 800}, Money: 0.115,
		Overruns: []float64{0.1, 0.3}, Excess: vo.Range{Min: 0, Max: 0.5}, Soon: 100 * des.Second,
	}
}

// Name implements Experiment.
func (Dependability) Name() string { return "dependability" }

// Title implements Experiment.
func (Dependability) Title() string {
	return "Windows by FirstFit, DEP and COORD where tasks overrun (a question of DEP18's)"
}

const (
	delayedShare = "windows delayed"
	meanDelay    = "delay"
	meanWait     = "wait"
	lastFinish   = "last finish"
	utilization  = "utilization"
	refusedShare = "jobs without a window"
)

// placement is a search; soon looks no further than Soon behind the first fit.
type placement struct {
	name   string
	finder plan.Finder
	soon   bool
}

func placements() []placement {
	best := func(by window.Criterion) window.Best { return window.Best{Settings: wholeTimes, By: by} }
	cheapest := func(g window.SquareGoal, by window.Criterion) window.Cheapest {
		return window.Cheapest{Settings: wholeTimes, Goal: g, By: by}
	}
	return []placement{
		{"FirstFit", cheapest(window.FirstFit, nil), false},
		{"MinCost", cheapest(window.LeastCost, nil), false},
		{"DEP Lite", cheapest(window.MostWorth, window.DEP{}), false},
		{"DEP", best(window.DEP{}), false},
		{"COORD Lite", cheapest(window.MostWorth, window.COORD{}), false},
		{"COORD", best(window.COORD{}), false},
		{"DEP, soon", best(window.DEP{}), true},
		{"COORD, soon", best(window.COORD{}), true},
	}
}

// Run implements Experiment.
func (d Dependability) Run(ctx context.Context, c Config) (Table, error) {
	t := Table{
		Name: d.Name(), Title: d.Title(), XLabel: "probability of an overrun",
		Settings: append(byDEP18.with(sources{"nodes": {Ours, "so that windows meet"}}).settings(d.Environment.Facts()),
			Setting{"jobs", fmt.Sprintf("%d, %v to %v units apart, of %v to %v nodes and volumes %v to %v, budget %v a unit of work", d.Jobs, d.Gap.Min, d.Gap.Max, d.Nodes.Min, d.Nodes.Max, d.Volume.Min, d.Volume.Max, d.Money), Source{Ours, "nothing is published; DEP18's one job has 7 nodes, a volume of 800 and 0.115 a unit of work"}},
			Setting{"overruns", fmt.Sprintf("every task, owners' too, overruns with the probability given, by %v to %v of its planned time, uniformly", d.Excess.Min, d.Excess.Max), Source{Ours, "DEP18 speaks of delays without numbers"}},
			Setting{"\"soon\"", fmt.Sprintf("windows start at most %v units after the first fit", d.Soon), Source{Ours, "what a user would wait for"}},
			Setting{"cycles", "2000", Source{Ours, "as DEP18's table 1"}},
		),
		Remarks: []string{"Delay and wait are means over the jobs placed: planned to real start, submission to real start. Utilization is the jobs' time on their nodes over all nodes' time to the last finish."},
	}
	st := study{cycles: 2000, cycle: d.cycle}
	for _, q := range []string{delayedShare, meanDelay, meanWait, lastFinish, utilization, refusedShare} {
		for _, p := range placements() {
			for _, f := range d.Overruns {
				st.rows = append(st.rows, Row{Series: p.name, Point: overrunPoint(f), X: f, Quantity: q, Own: true})
			}
		}
	}
	for _, q := range []string{delayedShare, meanDelay} {
		claim := Claim{Text: "DEP18's conjecture, " + q + ": DEP < FirstFit"}
		for _, f := range d.Overruns {
			claim.Pairs = append(claim.Pairs, Pair{Less: Ref{"DEP", overrunPoint(f), q}, Than: Ref{"FirstFit", overrunPoint(f), q}})
		}
		st.claims = append(st.claims, claim)
	}
	claim := Claim{Text: "its price, wait: FirstFit < DEP"}
	for _, f := range d.Overruns {
		claim.Pairs = append(claim.Pairs, Pair{Less: Ref{"FirstFit", overrunPoint(f), meanWait}, Than: Ref{"DEP", overrunPoint(f), meanWait}})
	}
	st.claims = append(st.claims, claim)
	err := st.run(ctx, c, &t)
	return t, err
}

func overrunPoint(f float64) string { return fmt.Sprintf("overrun %v%%", 100*f) }

func (d Dependability) cycle(ctx context.Context, seed, cycle uint64, see sight) error {
	in, err := d.Environment.Generate(seed, cycle)
	if err != nil {
		return err
	}
	for _, f := range d.Overruns {
		for _, p := range placements() {
			r := newReality(in, func(name string, keys ...uint64) func(des.Time) des.Time {
				return d.overrun(des.NewStream(seed, cycle, name, keys...), f)
			})
			if err := d.stream(ctx, des.NewStream(seed, cycle, "dependability.jobs"), p, r); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			r.tell(see, p.name, overrunPoint(f), d.Jobs)
		}
	}
	return nil
}

// overrun makes planned times real. Whether and by how much is drawn in the same
// way whatever the probability.
func (d Dependability) overrun(r *rand.Rand, probability float64) func(des.Time) des.Time {
	return func(planned des.Time) des.Time {
		u, excess := r.Float64(), d.Excess.Min+float64((d.Excess.Max-d.Excess.Min)*r.Float64())
		if u >= probability {
			return planned
		}
		return planned + des.Time(excess*float64(planned))
	}
}

// stream has the jobs come and be placed, and then everything happen.
func (d Dependability) stream(ctx context.Context, draw *rand.Rand, p placement, r *reality) error {
	now := des.Time(0)
	for id := range d.Jobs {
		now += des.Seconds(d.Gap.Min + float64((d.Gap.Max-d.Gap.Min)*draw.Float64()))
		n := int(d.Nodes.Min) + draw.IntN(int(d.Nodes.Max-d.Nodes.Min)+1)
		volume := d.Volume.Min + float64((d.Volume.Max-d.Volume.Min)*draw.Float64())
		if now >= r.list.To {
			continue
		}
		request := entity.Request{Nodes: n, Length: des.Seconds(volume), Budget: d.Money * float64(n) * volume}
		r.happen(now, false)
		list := r.free(now)
		until := list.To
		if p.soon {
			first, err := firstFit().Find(ctx, request, list, until)
			if err != nil {
				return err
			}
			until = min(until, first.Window.Start+d.Soon)
		}
		found, err := p.finder.Find(ctx, request, list, until)
		if err != nil {
			return err
		}
		if found.OK {
			r.place(uint64(id), now, found.Window)
		}
	}
	r.happen(des.Forever, true)
	return nil
}

// reality is what is planned on the nodes, and what has become of it.
type reality struct {
	list       plan.SlotList // the interval; its slots are scratch
	nodes      []*entity.Node
	index      map[*entity.Node]int // never iterated
	activities []*activity          // on each node in the order in which they run
	free0      []des.Time           // of each node, scratch
	overrun    func(name string, keys ...uint64) func(des.Time) des.Time
}

// activity is an owner's task or a job.
type activity struct {
	job       bool
	submitted des.Time
	planned   des.Time // start
	start     des.Time // as far as is known
	parts     []part
}

// part is what an activity does on one node.
type part struct {
	node         int
	planned, end des.Time // its length as planned; its end as far as is known
	real         des.Time // its length
}

func newReality(in *vo.Instance, overrun func(string, ...uint64) func(des.Time) des.Time) *reality {
	r := &reality{
		list: plan.SlotList{To: in.End}, nodes: in.Nodes, index: make(map[*entity.Node]int, len(in.Nodes)),
		free0: make([]des.Time, len(in.Nodes)), overrun: overrun,
	}
	for i, n := range in.Nodes {
		r.index[n] = i
		longer := overrun("dependability.owner", uint64(i))
		for _, s := range in.Tasks[i] {
			length := s.End - s.Start
			r.activities = append(r.activities, &activity{planned: s.Start, start: s.Start, parts: []part{{node: i, planned: length, real: longer(length)}}})
		}
	}
	return r
}

// happen works out starts and ends as they are known at now: what has ended took
// its real time, what goes on takes the time planned or until now, whichever is
// more, and what is to come the time planned. After the end all is known.
func (r *reality) happen(now des.Time, all bool) {
	slices.SortStableFunc(r.activities, func(a, b *activity) int { return cmp.Compare(a.start, b.start) })
	clear(r.free0)
	for _, a := range r.activities {
		a.start = a.planned
		for _, p := range a.parts {
			a.start = max(a.start, r.free0[p.node])
		}
		for i := range a.parts {
			p := &a.parts[i]
			switch {
			case all || a.start+p.real <= now:
				p.end = a.start + p.real
			case a.start <= now:
				p.end = max(a.start+p.planned, now)
			default:
				p.end = a.start + p.planned
			}
			r.free0[p.node] = p.end
		}
	}
}

// free is what is free from now on, as far as is known.
func (r *reality) free(now des.Time) plan.SlotList {
	r.list.From, r.list.Slots = now, r.list.Slots[:0]
	add := func(node int, from, to des.Time) {
		if from = max(from, now); from < min(to, r.list.To) {
			r.list.Slots = append(r.list.Slots, entity.Slot{Node: r.nodes[node], Width: 1, Start: from, End: min(to, r.list.To)})
		}
	}
	clear(r.free0)
	for _, a := range r.activities {
		for _, p := range a.parts {
			add(p.node, r.free0[p.node], a.start)
			r.free0[p.node] = p.end
		}
	}
	for node, from := range r.free0 {
		add(node, from, r.list.To)
	}
	slices.SortFunc(r.list.Slots, func(a, b entity.Slot) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Node.ID, b.Node.ID))
	})
	return r.list
}

// place adds a job's window.
func (r *reality) place(id uint64, now des.Time, w entity.Window) {
	longer := r.overrun("dependability.job", id)
	a := &activity{job: true, submitted: now, planned: w.Start, start: w.Start}
	for _, t := range w.Tasks {
		length := t.End - w.Start
		a.parts = append(a.parts, part{node: r.index[t.Node], planned: length, real: longer(length)})
	}
	r.activities = append(r.activities, a)
}

func (r *reality) tell(see sight, series, point string, jobs int) {
	var placed, delayed, delay, wait, used float64
	last := des.Time(0)
	for _, a := range r.activities {
		if !a.job {
			continue
		}
		placed++
		if a.start > a.planned {
			delayed++
		}
		delay += (a.start - a.planned).Seconds()
		wait += (a.start - a.submitted).Seconds()
		for _, p := range a.parts {
			used += p.real.Seconds()
			last = max(last, p.end)
		}
	}
	see.at(series, point, refusedShare, 1-placed/float64(jobs))
	if placed == 0 {
		return
	}
	see.at(series, point, delayedShare, delayed/placed)
	see.at(series, point, meanDelay, delay/placed)
	see.at(series, point, meanWait, wait/placed)
	see.at(series, point, lastFinish, last.Seconds())
	see.at(series, point, utilization, used/(float64(len(r.nodes))*last.Seconds()))
}

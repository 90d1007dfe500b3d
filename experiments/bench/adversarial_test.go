package bench_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/vo"
)

// Inputs that searches do not like. Random ones hide what a search does where nothing
// tells one candidate from another, or where it can never stop early.
const (
	randomly     = "random" // as it is drawn
	equalCosts   = "equal costs"
	equalLengths = "equal lengths"
	allEqual     = "all equal"
	allDifferent = "all different"
	costIsWorth  = "cost is worth" // a subset is worth what it costs: which spends most is subset-sum
	tinyBudget   = "tiny budget"   // a job that can pay next to nothing is searched for in vain
	allNodes     = "all nodes"     // a job that asks for all of them; of jobs in a queue every tenth
	sawtooth     = "sawtooth"      // slots begin one after the other; sizes of jobs rise one by one
	oneInstant   = "one instant"   // all jobs come at once
)

// slotShapes are about slots and what a job asks of them, jobShapes about queues.
var (
	slotShapes = []string{randomly, equalCosts, equalLengths, allEqual, allDifferent, costIsWorth, tinyBudget, allNodes, sawtooth}
	jobShapes  = []string{randomly, allEqual, allNodes, sawtooth, oneInstant}
)

// drawSlots draws the slots of an environment in that shape, and puts what is hard about
// the job into its request.
func drawSlots(shape string, env vo.Environment, seed uint64, request *entity.Request) (plan.SlotList, error) {
	env.Nodes.RealPerf = shape == allDifferent
	in, err := env.Generate(seed, 0)
	if err != nil {
		return plan.SlotList{}, err
	}
	// A unit of work costs so much on all of them that the budget is enough, just so.
	reshapeNodes(shape, in.Nodes, 0.95*request.Budget/float64(request.Nodes)/request.Length.Seconds())
	switch shape {
	case tinyBudget:
		request.Budget = 1e-3
	case allNodes:
		request.Nodes, request.Budget = len(in.Nodes), request.Budget*float64(len(in.Nodes))
	case sawtooth:
		return teeth(in, request), nil
	}
	return in.SlotList(), nil
}

// reshapeNodes has nodes be of that shape; price is that of a unit of work where they cost
// the same.
func reshapeNodes(shape string, nodes []*entity.Node, price float64) {
	const perf = 5
	for _, n := range nodes {
		switch shape {
		case equalLengths:
			n.Price, n.Perf = n.Price/n.Perf*perf, perf
		case equalCosts:
			n.Price = price * n.Perf
		case allEqual:
			n.Perf, n.Price, n.Q = perf, price*perf, 1
		case costIsWorth:
			n.Price = n.Price / n.Perf * perf
			n.Perf, n.Q = perf, n.Price
		}
	}
}

// teeth are slots of which each holds two of the job's tasks: those of a node follow each
// other without a gap, and those of different nodes are shifted against each other.
//
//	node 1  [--------)[--------)[--------)
//	node 2    [--------)[--------)[--------)
//	node 3      [--------)[--------)[--------)
//
// Every slot begins at an instant of its own, and at each of them another set of nodes has
// the time for a task.
func teeth(in *vo.Instance, request *entity.Request) plan.SlotList {
	list := plan.SlotList{To: in.End}
	for i, n := range in.Nodes {
		length := 2 * n.TaskTime(request.Length)
		for at := length * des.Time(i) / des.Time(len(in.Nodes)); at < in.End; at += length {
			list.Slots = append(list.Slots, entity.Slot{Node: n, Width: 1, Start: at, End: min(at+length, in.End)})
		}
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// reshapeJobs has jobs in a queue be of that shape.
func reshapeJobs(shape string, jobs []*entity.Job, nodes int) {
	for i, j := range jobs {
		switch shape {
		case allEqual:
			j.Submit, j.Runtime = des.Time(i)*des.Minute, des.Hour
			j.Request.Nodes, j.Request.Length = 3, 3*des.Hour
		case allNodes:
			if i%10 == 0 {
				j.Request.Nodes = nodes
			}
		case sawtooth:
			j.Request.Nodes = 1 + i%nodes
		case oneInstant:
			j.Submit = 0
		}
	}
}

// A search makes one pass over the list, and those that are repeated (CSA, MultipleBest)
// one more for every window that they find, which cuts at most as many slots in two as it
// has nodes. A step is a start and a length. The exact searches solve no more problems than
// there are steps, and have run out of patience after the choices below: by then they are
// content with what is within the whole of what could be gained.
const exactChoices = 1<<18 + 32<<15

func TestNoSearchForAWindowIsUnbounded(t *testing.T) {
	for _, f := range policy.Finders() {
		if strings.HasPrefix(f.Name, "square-knapsack-dp") {
			continue // the papers' programme: its table is as large as the budget, whatever the slots are
		}
		for _, shape := range slotShapes {
			env, request := vo.DEP18(), vo.DEP18Request()
			env.Nodes.Count = 40
			list, err := drawSlots(shape, env, 1, &request)
			require.NoError(t, err)
			found, err := f.New(nil).Find(context.Background(), request, list, list.To)
			require.NoError(t, err, "%s, %s", f.Name, shape)

			about := fmt.Sprintf("%s, %s: %+v", f.Name, shape, found)
			passes := found.Alternatives + 1
			slots := len(list.Slots) + found.Alternatives*request.Nodes
			require.LessOrEqual(t, found.Work.Slots, passes*slots, about)
			require.LessOrEqual(t, found.Work.Steps, passes*slots*lengths(list), about)
			require.LessOrEqual(t, found.Work.Subsets, found.Work.Steps+1, about)
			require.LessOrEqual(t, found.Work.Branches, exactChoices+2*found.Work.Steps, about)
		}
	}
}

// cyclicPatience is how many partial combinations the choice of alternatives keeps before it
// takes what it has (cyclic.Choice.Patience).
const cyclicPatience = 30_000_000

// lengths is how many lengths a task can have.
func lengths(list plan.SlotList) int {
	perfs := map[float64]bool{}
	for _, s := range list.Slots {
		perfs[s.Node.Perf] = true
	}
	return len(perfs)
}

// The alternatives of a batch share no node's time, so that there are no more of their tasks
// than the shortest fits into what is free. A job that has found nothing is not asked again.
func TestNoCycleOfPlanningIsUnbounded(t *testing.T) {
	for _, shape := range slotShapes {
		for _, c := range []cycle{{}, {Slices: 5}, {Slices: 1, Criteria: []string{"min-cost", "min-runtime"}}, {Slices: 2, Criteria: []string{"min-finish", "square-dep"}}} {
			c.Jobs, c.Nodes, c.Shape = 20, 60, shape
			batch, list, err := c.draw()
			require.NoError(t, err)
			out, err := c.planner().Plan(context.Background(), batch, list)
			require.NoError(t, err)

			about := fmt.Sprintf("%+v: %+v", c, out.Stats)
			slices := max(c.Slices, 1)
			free, shortest, narrowest := des.Time(0), list.To, len(list.Slots)
			for i := range batch {
				narrowest = min(narrowest, batch[i].Request.Nodes)
				for _, s := range list.Slots {
					shortest = min(shortest, s.Node.TaskTime(batch[i].Request.Length))
				}
			}
			for _, s := range list.Slots {
				free += s.End - s.Start
			}
			require.LessOrEqual(t, out.Stats.Alternatives, slices*int(free/shortest)/narrowest, about)
			require.LessOrEqual(t, out.Stats.Rounds, out.Stats.Alternatives+slices, about)
			// Every search, of those that find a window and those that find none, looks at each slot once
			// at the most: those of the list, and one more for every task that was cut out.
			searches, cut := out.Stats.Alternatives+slices*c.Jobs, 5*out.Stats.Alternatives
			if shape == allNodes {
				cut += c.Nodes * int(list.To/shortest)
			}
			require.LessOrEqual(t, out.Stats.Work.Slots, searches*(len(list.Slots)+cut), about)
			require.LessOrEqual(t, out.Stats.Work.Branches, searches*exactChoices, about)
			require.LessOrEqual(t, out.Stats.States, cyclicPatience+c.Jobs, about)
		}
	}
}

// counted is a cluster that counts how often it is asked.
type counted struct {
	*plan.Cluster
	asked int
}

func (c *counted) Find(r entity.Request, from, until des.Time) (entity.Window, bool) {
	c.asked++
	return c.Cluster.Find(r, from, until)
}

func (c *counted) FindEarlier(r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
	c.asked++
	return c.Cluster.FindEarlier(r, from, until)
}

func (c *counted) FitsAt(at des.Time, nodes int, length des.Time) (ok bool, missNodes int, missLength des.Time) {
	c.asked++
	return c.Cluster.FitsAt(at, nodes, length)
}

// waiting counts the jobs that wait, and adds up how many did when a job ended.
type waiting struct{ now, atEnds int }

func (w *waiting) Observe(e entity.JobEvent) {
	switch e.Kind {
	case entity.JobSubmitted:
		w.now++
	case entity.JobStarted:
		w.now--
	case entity.JobFinished:
		w.atEnds += w.now
	}
}

// A miss tells EASY of all requests that fail for the same reason, so that an event asks the
// plan some times, however long the queue is. Compression asks for every job that waits when
// one has ended, and once more where it moves.
func TestNoQueueIsUnbounded(t *testing.T) {
	for _, name := range []string{"easy", "conservative"} {
		for _, shape := range jobShapes {
			for _, n := range []int{300, 1200} {
				p, err := policy.Registry().Parse(name)
				require.NoError(t, err)
				jobs, err := (&overload{Jobs: n, Shape: shape}).draw()
				require.NoError(t, err)
				sim := des.New(des.Config{Seed: 1})
				c, w := &counted{Cluster: plan.NewCluster(overloaded)}, &waiting{}
				meta := entity.NewMetascheduler(sim, c, p.Value, w)
				meta.SubmitAll(slices.Values(jobs))
				require.NoError(t, sim.Run(context.Background()))
				most := 10 * int(sim.Executed())
				if name == "conservative" {
					most = 2 * (n + w.atEnds)
				}
				require.LessOrEqual(t, c.asked, most, "%s, %s, %d jobs", name, shape, n)
				require.Positive(t, c.asked)
			}
		}
	}
}

// BenchmarkAdversarial prints what hard inputs cost beside random ones, as a table.
func BenchmarkAdversarial(b *testing.B) {
	type row struct {
		name   string
		shapes []string
		of     func(shape string) work
		unit   float64 // s
		format string
	}
	search := func(name string) row {
		return row{"search, " + name + ", 100 nodes, ms", slotShapes, func(shape string) work {
			return &searches{Finder: "square-" + name, Square: true, Nodes: 100, Units: 1200, Shape: shape}
		}, lists * 1e-3, "%.2f"}
	}
	plan := func(name string, c cycle) row {
		return row{name + ", ms", slotShapes, func(shape string) work {
			c := c
			c.Jobs, c.Nodes, c.Shape = 80, 400, shape
			return &c
		}, 1e-3, "%.0f"}
	}
	queue := func(policy string) row {
		return row{policy + ", 256 processors, 4,000 jobs, ms", jobShapes, func(shape string) work {
			return &overload{Policy: policy, Jobs: 4000, Shape: shape}
		}, 1e-3, "%.0f"}
	}
	rows := []row{
		plan("CSS, 80 jobs, 400 nodes", cycle{}), plan("the same, k = 5, by users' criteria", cycle{Slices: 5, Criteria: []string{"min-cost", "min-runtime"}}),
		search("maxq"), search("dep"), search("coord"),
		queue("easy"), queue("conservative"),
		{"EASY amp, 400 unequal nodes, 2,000 jobs, ms", append(slices.Clone(jobShapes), allDifferent, equalCosts, equalLengths), func(shape string) work {
			return &fleet{Nodes: 400, Jobs: 2000, Shape: shape}
		}, 1e-3, "%.0f"},
	}
	shapes := append(slices.Clone(slotShapes), oneInstant)
	table := [][]string{append([]string{"work"}, shapes...)}
	for _, r := range rows {
		line := []string{r.name}
		for _, shape := range shapes {
			cell := ""
			if slices.Contains(r.shapes, shape) {
				cell = fmt.Sprintf(r.format, spend(b, r.of(shape)).CPU/r.unit)
			}
			line = append(line, cell)
		}
		table = append(table, line)
	}
	printTable(table)
	b.ReportMetric(0, "ns/op")
}

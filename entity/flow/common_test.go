package flow_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// journal writes down what happens, a line an event, and what became of whom.
type journal struct {
	lines []string
	runs  map[*entity.Job]*entity.Run
}

func (d *journal) Observe(e entity.JobEvent) {
	if d.runs == nil {
		d.runs = map[*entity.Job]*entity.Run{}
	}
	d.runs[e.Run.Job] = e.Run
	line := fmt.Sprintf("%v %v %d", e.Time, e.Kind, e.Run.ID)
	if e.Kind == entity.JobPromised {
		line += fmt.Sprintf(" for %v", e.Start)
	}
	d.lines = append(d.lines, line)
}

// simulate has the journal written on a cluster of 4.
func (d *journal) simulate(p entity.Policy, set func(*entity.Metascheduler), jobs ...*entity.Job) error {
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(4), p, d)
	set(m)
	m.SubmitAll(slices.Values(jobs))
	err := sim.Run(context.Background())
	m.Close()
	return err
}

func simulate(p entity.Policy, set func(*entity.Metascheduler), jobs ...*entity.Job) (*journal, error) {
	d := &journal{}
	return d, d.simulate(p, set, jobs...)
}

// lost is the processor time of a job's earlier attempts.
func lost(r *entity.Run) (sum des.Time) {
	for _, a := range r.Earlier() {
		sum += a.ProcessorTime()
	}
	return sum
}

// estimated is a job; it takes its times in seconds.
func estimated(id int64, submit, runtime, estimate des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: runtime * des.Second,
		Request: entity.Request{Nodes: nodes, Length: estimate * des.Second}}
}

func nodes(perfs ...float64) []*entity.Node {
	var list []*entity.Node
	for i, p := range perfs {
		list = append(list, &entity.Node{ID: i, Perf: p, Price: p})
	}
	return list
}

func domain(t require.TestingT, nodes []*entity.Node) *plan.Domain {
	d, err := plan.NewDomain(nodes, everyNode{})
	require.NoError(t, err)
	return d
}

// late answers with a window that begins after what it was asked for.
type late struct{ everyNode }

func (f late) Find(ctx context.Context, req entity.Request, list plan.SlotList, until des.Time) (plan.Found, error) {
	found, err := f.everyNode.Find(ctx, req, list, until)
	found.Window.Start = until + 1
	return found, err
}

package workflow

import (
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Workflow is a directed acyclic graph of tasks.
type Workflow struct {
	Name  string
	Tasks []Task // in any order; edges tell tasks by their places
}

// Task is a task of a workflow.
type Task struct {
	ID, Name string   // no two tasks have one id; names may be equal
	Runtime  des.Time // on a node of performance 1
	Cores    int      // 1 or more
	Parents  []Edge   // the tasks for which it waits; no task is there twice
}

// Edge is a dependency: the task for which another task waits, and the data that the other task
// reads from it.
type Edge struct {
	Task  int     // position in Workflow.Tasks
	Bytes float64 // size of the files that the first task writes and the second reads
}

// Member is the Job.Extra of a workflow's task.
type Member struct {
	*Task
	rank des.Time // see UpwardRank
}

// UpwardRank is the length of the longest path from the beginning of the task to the
// end of the workflow, the time for data included; see backfill.Ranked.
func (m Member) UpwardRank() des.Time { return m.rank }

// Jobs are the tasks as jobs, all submitted at 0: numbered from 1 in their order,
// each after its parents, which must have finished well. The estimates are the
// runtimes. Data takes its bytes divided by rate, in bytes a second, wherever the two
// tasks run (Dependency.Think): an engine that does not move data cannot know where
// it is already. With a rate of 0 it takes no time.
func (w *Workflow) Jobs(rate float64) ([]*entity.Job, error) {
	jobs := make([]*entity.Job, len(w.Tasks))
	transfer := func(e Edge) des.Time {
		if rate == 0 {
			return 0
		}
		return des.Seconds(e.Bytes / rate)
	}
	if !(rate >= 0) || math.IsInf(rate, 0) {
		return nil, fmt.Errorf("data must move at a finite rate of 0 or more bytes a second (0 = at once), not %v", rate)
	}
	order, err := w.order()
	if err != nil {
		return nil, err
	}
	// From the last tasks up, rank(t) = runtime(t) + max over children c of (transfer(t, c) + rank(c)):
	// Topcuoglu, Hariri and Wu, "Performance-effective and low-complexity task scheduling for
	// heterogeneous computing", IEEE TPDS 13(3), 2002, equation 2.
	below := make([]des.Time, len(jobs)) // the longest path behind the end of the task
	for i := len(order) - 1; i >= 0; i-- {
		at := order[i]
		t := &w.Tasks[at]
		rank := t.Runtime.Add(below[at])
		j := &entity.Job{
			ID: int64(at) + 1, Runtime: t.Runtime, User: -1, Group: -1, Queue: -1,
			Request: entity.Request{Nodes: t.Cores, Length: max(t.Runtime, des.Tick)}, Extra: Member{t, rank},
		}
		for _, e := range t.Parents {
			d := entity.Dependency{Job: int64(e.Task) + 1, OK: true, Think: transfer(e)}
			j.After = append(j.After, d)
			below[e.Task] = max(below[e.Task], rank.Add(d.Think))
		}
		if err := j.Check(); err != nil {
			return nil, fmt.Errorf("task %s: %w", t.ID, err)
		}
		jobs[at] = j
	}
	return jobs, nil
}

// order is an order in which parents come before their children (Kahn, "Topological sorting of large
// networks", CACM 5(11), 1962); an error names a circle.
func (w *Workflow) order() ([]int, error) {
	waits, children := make([]int, len(w.Tasks)), make([][]int, len(w.Tasks)) // parents not in order yet; children
	var order []int
	for i, t := range w.Tasks {
		for _, e := range t.Parents {
			children[e.Task] = append(children[e.Task], i)
		}
		if waits[i] = len(t.Parents); waits[i] == 0 {
			order = append(order, i)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, c := range children[order[at]] {
			if waits[c]--; waits[c] == 0 {
				order = append(order, c)
			}
		}
	}
	for i, left := range waits {
		if left > 0 {
			return nil, fmt.Errorf("tasks wait for each other in a circle, before task %s or through it", w.Tasks[i].ID)
		}
	}
	return order, nil
}

package window_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

// chart draws the interval [0, 600) of six nodes, ten time units a letter:
// '#' an owner's local task, '.' free.
type chart [6][]byte

func newChart() *chart {
	var c chart
	for i := range c {
		c[i] = bytes.Repeat([]byte{'.'}, 60)
	}
	return &c
}

func (c *chart) draw(node int, from, to des.Time, mark byte) {
	for at := from; at < to; at += 10 * des.Second {
		c[node-1][at/(10*des.Second)] = mark
	}
}

func (c *chart) print() {
	for i := range c {
		fmt.Printf("cpu%d %s\n", i+1, c[i])
	}
}

// The worked example of AMP11, section 4: six nodes, seven local tasks, and a
// batch of three jobs, each given the first window that AMP finds on what the
// ones before it left. (The paper draws its local tasks without numbers; these
// give its windows.)
func ExampleAMP() {
	prices := []float64{6, 4, 2, 4, 3, 12}
	nodes := make([]*entity.Node, len(prices))
	for i, price := range prices {
		nodes[i] = &entity.Node{ID: i + 1, Perf: 1, Price: price}
	}
	local := []struct {
		node     int
		from, to des.Time
	}{{1, 0, 150}, {2, 50, 230}, {2, 300, 430}, {3, 0, 450}, {4, 0, 100}, {5, 60, 420}, {6, 0, 300}}

	gantt := newChart()
	list := plan.SlotList{To: 600 * des.Second}
	freeFrom := make([]des.Time, len(nodes)+1)
	for _, task := range local {
		from, to := task.from*des.Second, task.to*des.Second
		gantt.draw(task.node, from, to, '#')
		if start := freeFrom[task.node]; start < from {
			list.Slots = append(list.Slots, entity.Slot{Node: nodes[task.node-1], Width: 1, Start: start, End: from})
		}
		freeFrom[task.node] = to
	}
	for id, start := range freeFrom[1:] {
		list.Slots = append(list.Slots, entity.Slot{Node: nodes[id], Width: 1, Start: start, End: list.To})
	}
	slices.SortStableFunc(list.Slots, func(a, b entity.Slot) int { return int(a.Start - b.Start) })
	if err := window.CheckSlots(list); err != nil {
		fmt.Println(err)
		return
	}

	batch := []struct {
		nodes         int
		time, perUnit float64 // what the whole window may cost for one time unit
	}{{2, 80, 10}, {3, 30, 30}, {2, 50, 6}}
	for i, job := range batch {
		req := entity.Request{Nodes: job.nodes, Length: des.Seconds(job.time), MinPerf: 1, Budget: job.perUnit * job.time}
		found, err := window.AMP{}.Find(context.Background(), req, list, des.Forever)
		if err != nil || !found.OK {
			fmt.Println("no window", err)
			return
		}
		w := found.Window
		fmt.Printf("W%d [%v, %v] on", i+1, w.Start, w.End)
		slices.SortFunc(w.Tasks, func(a, b entity.Task) int { return a.Node.ID - b.Node.ID })
		for _, task := range w.Tasks {
			fmt.Printf(" cpu%d", task.Node.ID)
			gantt.draw(task.Node.ID, w.Start, task.End, byte('1'+i))
		}
		fmt.Printf(", %g per time unit\n", w.Cost/job.time)
		if list.Slots, err = window.Subtract(list.Slots, &w); err != nil {
			fmt.Println(err)
			return
		}
	}
	gantt.print()
	// Output:
	// W1 [150, 230] on cpu1 cpu4, 10 per time unit
	// W2 [230, 260] on cpu1 cpu2 cpu4, 14 per time unit
	// W3 [450, 500] on cpu3 cpu5, 5 per time unit
	// cpu1 ###############11111111222..................................
	// cpu2 .....##################222....#############.................
	// cpu3 #############################################33333..........
	// cpu4 ##########.....11111111222..................................
	// cpu5 ......####################################...33333..........
	// cpu6 ##############################..............................
}

// Memory is a criterion of one's own: windows on nodes with much memory.
type Memory struct{}

// Value is the node's memory.
func (Memory) Value(s *entity.Slot, _, _ des.Time) float64 { return s.Node.Amounts["ram"] }

// Bound makes Memory a window.Bounded, which is searched faster: no start and
// no length makes the node's memory greater.
func (Memory) Bound(s *entity.Slot, _, _, _, _ des.Time) float64 { return s.Node.Amounts["ram"] }

// A criterion of one's own is a method that says what a slot adds to the worth
// of a window. Best finds the window that is worth most within the budget.
func ExampleCriterion() {
	list := plan.SlotList{To: 100 * des.Second}
	for id, ram := range []float64{4, 64, 16, 32} {
		node := &entity.Node{ID: id + 1, Perf: 1, Price: ram / 16}
		node.Amounts = map[string]float64{"ram": ram}
		list.Slots = append(list.Slots, entity.Slot{Node: node, Width: 1, End: list.To})
	}
	req := entity.Request{Nodes: 2, Length: 10 * des.Second, Budget: 50}
	found, err := window.Best{By: Memory{}}.Find(context.Background(), req, list, des.Forever)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v GB for %v:", found.Window.Value, found.Window.Cost)
	for _, task := range found.Window.Tasks {
		fmt.Print(" node ", task.Node.ID)
	}
	fmt.Println()
	// Output: 80 GB for 50: node 2 node 3
}

package plan_test

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// A slow and a fast node, the fast one in its owner's use for a while; a job
// that wants both at once gets them as soon as they are free together.
func ExampleDomain() {
	slow := &entity.Node{ID: 1, Perf: 1, Price: 1}
	fast := &entity.Node{ID: 2, Perf: 4, Price: 5}
	d, err := plan.NewDomain([]*entity.Node{slow, fast}, cheapest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := d.Occupy(fast, 0, 30*des.Second); err != nil {
		fmt.Println(err)
		return
	}
	j := entity.NewRun(&entity.Job{ID: 7, Request: entity.Request{Nodes: 2, Length: 40 * des.Second, Budget: 100}}, 0)
	w, ok := d.Find(j.Request, 0, des.Forever)
	fmt.Println(ok, w.Start, w.End, w.Cost)
	if _, err := d.Reserve(j, w); err != nil {
		fmt.Println(err)
		return
	}
	for s := range d.Slots(0, 100*des.Second) {
		fmt.Printf("node %d is free over [%v, %v)\n", s.Node.ID, s.Start, s.End)
	}
	_, err = d.Reserve(entity.NewRun(&entity.Job{ID: 8}, 0), w)
	fmt.Println(err)
	// Output:
	// true 30 70 90
	// node 1 is free over [0, 30)
	// node 2 is free over [40, 100)
	// node 1 is free over [70, 100)
	// job 8: [30, 70) for 2 nodes is taken: job 7 has node 1 over [30, 70)
}

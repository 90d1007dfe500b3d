package cyclic_test

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/cyclic"
)

// Two jobs on a slow, cheap and a fast, dear node. What the owners earn most by
// within the mean time is not what the users would choose.
func ExampleCSS() {
	slow := &entity.Node{ID: 1, Perf: 1, Price: 1}
	fast := &entity.Node{ID: 2, Perf: 2, Price: 3}
	end := 100 * des.Second
	slots := plan.SlotList{To: end, Slots: []entity.Slot{
		{Node: slow, Width: 1, End: end}, {Node: fast, Width: 1, End: end},
	}}
	batch := []cyclic.Item{
		{Request: entity.Request{Nodes: 1, Length: 40 * des.Second}},
		{Request: entity.Request{Nodes: 1, Length: 60 * des.Second}},
	}
	for _, p := range []cyclic.Problem{cyclic.OwnersProfit, cyclic.UsersExpense} {
		out, err := cyclic.CSS{Search: cyclic.Search{Rounds: 2}, Choice: cyclic.Choice{Problem: p}}.Plan(context.Background(), batch, slots)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p)
		for i, d := range out.Jobs {
			w := d.Window
			fmt.Printf("  job %d: node %d over [%v, %v) for %g, of %d alternatives\n", i, w.Tasks[0].Node.ID, w.Start, w.End, w.Cost, d.Alternatives)
		}
	}
	// Output:
	// owners-profit
	//   job 0: node 2 over [30, 50) for 60, of 2 alternatives
	//   job 1: node 2 over [0, 30) for 90, of 2 alternatives
	// users-expense
	//   job 0: node 1 over [0, 40) for 40, of 2 alternatives
	//   job 1: node 2 over [0, 30) for 90, of 2 alternatives
}

package plantest_test

import (
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/plan/plantest"
)

// In a test of your own plan the error is given to t.Fatal.
func ExampleCheck() {
	empty := func() entity.Plan { return plan.NewCluster(8) }
	fmt.Println(plantest.Check(empty, plantest.Config{Seed: 1, Sequences: 50}))
	// Output: <nil>
}

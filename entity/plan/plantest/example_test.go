package plantest_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/plan/plantest"
)

// A test of a plan of your own is this, with the plan in the place of the cluster.
func ExampleCheck() {
	empty := func() entity.Plan { return plan.NewCluster(8) }
	_ = func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { plantest.Check(t, empty, plantest.Config{}) })
	}
}

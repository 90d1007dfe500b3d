package backfill_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

// Whatever a domain of unequal nodes knows without a search (first fit, what surely
// fits, how many are free) is what its finder, asked each time, would have said.
func TestUnequalNodesScheduleAsTheirFinderWouldHaveIt(t *testing.T) {
	var finders []plan.Finder
	for _, kind := range []window.Kind{window.Rough, window.Square} {
		for _, name := range window.Names(kind) {
			if strings.HasPrefix(name, "knapsack") {
				continue // it needs a budget
			}
			f, err := window.ByName(kind, name, window.Settings{})
			require.NoError(t, err)
			finders = append(finders, f)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		all, jobs, locals := world(t)
		policy := drawPolicy(t)
		f := rapid.SampledFrom(finders).Draw(t, "finder")
		fates := func(f plan.Finder) (fates []string) {
			_, runs := run(t, all, f, policy, jobs, locals)
			for _, r := range runs {
				fates = append(fates, fmt.Sprintln(r.ID, r.State, r.Reason, r.Start, r.Finish, r.Promised, r.Backfilled, r.Reservation.Window))
			}
			return fates
		}
		require.Equal(t, fates(asked{f}), fates(f), "%s by %s", policy.Name(), f.Name())
	})
}

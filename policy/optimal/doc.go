// Package optimal says how good a schedule could have been: the best schedules of a few rigid
// jobs on counted processors, found by branch and bound, and lower bounds for logs of any
// length. Both know beforehand when jobs come and how long they really run, as no policy does.
//
//	Jobs --Solve-->   a best schedule, proved     at most MostJobs jobs
//	Jobs --Lower-->   lower bounds of all schedules     O(n log n)
//	Jobs --Search-->  a good order of jobs, which bounds the best schedule from above
//
// Policy runs a best schedule in a simulation, beside the policies that are compared with it.
package optimal

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// Job is a rigid job with its real length, which only a clairvoyant knows.
type Job struct {
	Submit des.Time // instant of submission, 0 or later
	Length des.Time // how long it really occupies its processors, 0 or more
	Nodes  int      // processors, 1 or more
}

// check returns an error for the first job that does not fit a machine of that many
// processors.
func check(jobs []Job, processors int) error {
	for i, j := range jobs {
		if j.Submit < 0 || j.Length < 0 || j.Length == des.Forever {
			return fmt.Errorf("job %d of %d has no schedule: it is submitted at %v and runs for %v", i+1, len(jobs), j.Submit, j.Length)
		}
		if j.Nodes < 1 || j.Nodes > processors {
			return fmt.Errorf("job %d of %d needs %d processors, and the machine has %d", i+1, len(jobs), j.Nodes, processors)
		}
	}
	return nil
}

// Package optimal says how good a schedule could have been: the best schedules of a few jobs,
// rigid or moldable, on counted processors, found by branch and bound, and lower bounds for logs of
// any length. Both know beforehand when jobs come and how long they really run, as no policy does.
//
//	Jobs --Solve-->   a best schedule, proved     at most MostJobs jobs
//	Jobs --Lower-->   lower bounds of all schedules     O(n log n)
//	Jobs --Search-->  a good order of jobs, which bounds the best schedule from above
//
// Policy runs a best schedule in a simulation, beside the policies that are compared with it.
package optimal

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Job is a job with its real length, which only a clairvoyant knows.
type Job struct {
	Submit des.Time // instant of submission, 0 or later
	Length des.Time // how long it really occupies its processors, 0 or more
	Nodes  int      // processors, 1 or more
	// Shapes are the other shapes of a moldable job, beside Length and Nodes. The job keeps one of
	// all these shapes from its start to its end. Shapes that are too wide for the machine do not
	// count.
	Shapes []Shape
}

// Shape is one way in which a job can run.
type Shape struct {
	Length des.Time // as Job.Length
	Nodes  int      // as Job.Nodes
}

// JobOf returns the Job of a user's job, with all its shapes. lasts says how long a job in one
// shape really occupies its processors, as entity.Overrun.Lasts does.
func JobOf(j *entity.Job, lasts func(*entity.Job) des.Time) Job {
	job := Job{Submit: j.Submit, Length: lasts(j), Nodes: j.Request.Nodes}
	for _, s := range j.Shapes {
		if rigid, _ := j.In(s.Nodes); s.Nodes != job.Nodes {
			job.Shapes = append(job.Shapes, Shape{lasts(rigid), s.Nodes})
		}
	}
	return job
}

// compare is the order of Sort.
func compare(a, b Job) int {
	return cmp.Or(cmp.Compare(a.Submit, b.Submit), compareShapes(Shape{a.Length, a.Nodes}, Shape{b.Length, b.Nodes}), slices.CompareFunc(a.Shapes, b.Shapes, compareShapes))
}

func compareShapes(a, b Shape) int {
	return cmp.Or(cmp.Compare(a.Length, b.Length), cmp.Compare(a.Nodes, b.Nodes))
}

// Sort puts jobs into an order in which lists of the same jobs are the same: by submission, then by
// length, nodes and shapes.
func Sort(jobs []Job) { slices.SortFunc(jobs, compare) }

// Same reports whether two lists in the order of Sort are of the same jobs.
func Same(a, b []Job) bool {
	return slices.EqualFunc(a, b, func(x, y Job) bool { return compare(x, y) == 0 })
}

// all yields the shapes of j, its own first.
func (j *Job) all() iter.Seq[Shape] {
	return func(yield func(Shape) bool) {
		if !yield(Shape{j.Length, j.Nodes}) {
			return
		}
		for _, s := range j.Shapes {
			if !yield(s) {
				return
			}
		}
	}
}

// check returns an error for the first job that does not fit a machine of that many
// processors.
func check(jobs []Job, processors int) error {
	for i := range jobs {
		j, least := &jobs[i], 0
		for s := range j.all() {
			if j.Submit < 0 || s.Length < 0 || s.Length == des.Forever {
				return fmt.Errorf("job %d of %d has no schedule: it is submitted at %v and runs for %v", i+1, len(jobs), j.Submit, s.Length)
			}
			if s.Nodes < 1 {
				return fmt.Errorf("job %d of %d needs 1 processor or more, not %d", i+1, len(jobs), s.Nodes)
			}
			least = min(cmp.Or(least, s.Nodes), s.Nodes)
		}
		if least > processors {
			return fmt.Errorf("job %d of %d needs %d processors, and the machine has %d", i+1, len(jobs), least, processors)
		}
	}
	return nil
}

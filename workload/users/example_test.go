package users_test

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/users"
)

// records is a log of 30 weeks: user 1 runs a job every Monday and looks at the result
// before the next one; user 2 is there for a week.
func records() iter.Seq2[*workload.Record, error] {
	return func(yield func(*workload.Record, error) bool) {
		job := int64(0)
		run := func(user int64, submit, runtime des.Time) bool {
			job++
			return yield(&workload.Record{
				Job: job, User: user, Submit: submit, Runtime: runtime, Allocated: 4, Requested: 4,
				Estimate: des.Hour, Status: workload.StatusCompleted,
			}, nil)
		}
		for week := range des.Time(30) {
			monday := week * 7 * des.Day
			if !run(1, monday+9*des.Hour, 10*des.Minute) || !run(1, monday+9*des.Hour+15*des.Minute, 20*des.Minute) ||
				week == 11 && !run(2, monday+2*des.Day, 30*des.Minute) {
				return
			}
		}
	}
}

func ExampleSurvey() {
	facts, err := users.Survey(records(), users.Rule{}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, u := range facts.All {
		fmt.Printf("user %d, %v: %d jobs in %d sessions, median think time %v s\n", u.User, u.Tenure, u.Jobs, u.Sessions, u.Think)
	}
	// Output:
	// user 1, long-term: 60 jobs in 30 sessions, median think time 300 s
	// user 2, temporary: 1 jobs in 1 sessions, median think time 0 s
}

func ExamplePool_Linked() {
	pool, err := users.NewPool(records(), &users.Rule{})
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := pool.Linked(users.Resample{Weeks: 1, Scale: 2, Feedback: true, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for rec := range again {
		fmt.Printf("job %d of user %d at %v s, after job %d and %v s\n", rec.Job, rec.User, rec.Submit, rec.Preceding, rec.ThinkTime)
	}
	// Output:
	// job 1 of user 1 at 32400 s, after job -1 and -1 s
	// job 2 of user 2 at 32400 s, after job -1 and -1 s
	// job 3 of user 1 at 33300 s, after job 1 and 300 s
	// job 4 of user 2 at 33300 s, after job 2 and 300 s
}

// Package predicttest tests that an entity.Predictor sees no future, as testing/fstest
// tests file systems. Whoever writes a predictor of their own runs
//
//	func TestMyPredictor(t *testing.T) {
//		begin := func([]*entity.Job) entity.Predictor { return &mine.Predictor{} }
//		rapid.Check(t, func(t *rapid.T) {
//			if err := predicttest.Check(t, begin); err != nil {
//				t.Fatal(err)
//			}
//		})
//	}
//
// with pgregory.net/rapid, which draws the workloads and makes one that shows a fault as
// small as it can.
//
// Check runs a small random workload on a cluster and writes down every answer. What a
// predictor says before an instant must not depend on how long jobs run that end at that
// instant or later:
//
//	        first run                    second run
//	job 1   [#####]                      [#####]            it has ended
//	job 2     [#########|####]             [#########|#]    runs otherwise
//	job 3          .....|[###]                  .....|[######]
//	                  ^ predicted 40 s             ^ predicted 40 s, to the tick
//	                    |                            |
//	                    the instant                  the same instant
//
// What is checked, in short:
//
//   - Predictions and corrections made before an instant stay the same, to the tick,
//     whatever becomes of jobs that end later: waiting, running and still to come.
//   - The same workload gets the same answers again, whatever another predictor of the
//     kind has seen in between: nothing is shared, nothing depends on the order of a map.
//   - Answers are finite times. None is the result of converting NaN, or a number beyond the
//     range of des.Time.
//   - No job is corrected without end, and no call panics.
//
// In the workloads there are unknown users, requests of a tick and of years, runtimes of
// nothing, jobs that are killed at their requests, that are cancelled while they wait,
// killed or preempted while they run.
//
// A predictor may be made with knowledge of the jobs to come, for example from a table beside the
// log. In this way it could see runtimes, so Check makes the predictor from the jobs.
package predicttest

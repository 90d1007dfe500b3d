// Package metrics watches a simulation and says what became of the jobs. It
// observes and never decides: everything here is an entity.Observer, or reads
// what one has written.
//
//   - Recorder sums up a run while it goes on (Summary).
//   - JobsWriter and QueueWriter stream jobs-POLICY.csv and queue-POLICY.csv.
//   - Validator checks a schedule while it is made, ValidateJobs one that was
//     written to a file; neither shares code with the policies.
//   - Moments and Estimate turn replications into intervals of confidence.
//
// # Definitions
//
// Times are in time units (seconds of a trace). For a job that ran:
//
//	wait             = start - submission
//	run              = finish - start
//	turnaround       = finish - submission
//	stretch          = turnaround / run
//	bounded slowdown = max(1, turnaround / max(run, 10))
//
// For a run of the simulator:
//
//	makespan    = last finish - first submission
//	utilization = busy processor time / (processors * makespan)
//
// All jobs submitted count as jobs; means, order statistics and sums are over
// the jobs that ran to an end, be it their own or their estimate's. What
// preempted runs of a job have lost counts as busy. Quantiles interpolate
// linearly between order statistics (definition 7 of Hyndman and Fan, The
// American Statistician 50(4), 1996; the default of R, NumPy and pandas).
package metrics

// Package metrics watches a simulation and says what became of the jobs. It
// observes and never decides.
//
//	                    +--> Recorder ----> Summary --> summary.csv, a table
//	                    |
//	Metascheduler --JobEvent--> JobsWriter ---------> jobs-POLICY.csv
//	                    |
//	                    +--> QueueWriter -----------> queue-POLICY.csv
//	                    |
//	                    +--> AttemptsWriter --------> attempts-POLICY.csv
//	                    |
//	                    +--> CapacityAccount -------> capacity.csv
//	                    |
//	                    +--> Cycles ----------------> cycles-POLICY.csv
//
// # The life of an observer
//
// An observer is made and set up, then given to entity.NewMetascheduler, which
// tells it whose jobs it will see (Attach). While the run goes on it is told of
// every event (Observe), and of the end of every instant at which there were any
// (InstantOver). After the run it is asked: a Recorder for its Summary, at any
// time; a writer is closed, which writes the rows that are left and returns the
// first error that it has met.
//
// # Where to begin
//
// Recorder is all that most experiments need. CreateJobs and NewQueueWriter write
// the files; docs/reference/files.md tells of their columns. Package stats turns the
// summaries of several runs into intervals of confidence, and tells what else can be
// concluded from them. Package validate finds out whether a schedule could have
// happened at all.
//
// # Definitions
//
// Times are in time units (seconds of a trace). For a job that ran:
//
//	wait             = start - submission
//	run              = time for its own work: finish - start, as most often
//	turnaround       = finish - submission
//	stretch          = turnaround / run
//	bounded slowdown = max(1, turnaround / max(run, tau)), where tau is 10 if nothing else is said
//
// For a run of the simulator:
//
//	makespan    = last end of an attempt - first submission
//	utilization = busy processor time / (processors * makespan)
//
// The start of a preempted job is the start of its last attempt. Its run is the work of that
// attempt and the kept work of earlier attempts; lost work, set-up and checkpoints are no work
// (entity.Run.Ran). All jobs submitted count as jobs. Means, order statistics and sums are over
// the jobs that ran and came to an end: by themselves, at the end of their estimates, or because
// they were killed. Busy is whatever was occupied: the attempts that were preempted, too, whether
// their work was kept or lost; CapacityAccount tells these apart. Quantiles interpolate linearly between
// order statistics (definition 7 of Hyndman and Fan, The American Statistician 50(4), 1996; the
// default of R, NumPy and pandas).
package metrics

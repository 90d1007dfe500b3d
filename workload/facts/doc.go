// Package facts describes a log: the sizes and runtimes of its jobs, the accuracy of their
// estimates, the times of submission, the load of each week, the users, and oddities. It also
// measures the difference between two logs, so that a model can be compared with the log that it
// should resemble.
//
//	facts, report, err := facts.Of(ctx, trace)
//	facts.Runtimes.Median              the findings, ready for JSON
//	report                             the number of lines, by what became of them
//	facts.Compare(mine, theirs)        Kolmogorov-Smirnov, Wasserstein
//
// # Which jobs count
//
// The jobs are those that workload.Options make of the log, so they are the jobs of a simulation,
// with the same sizes, estimates and submissions. A record that makes no job (it never ran, or its
// processors are unknown) is counted in the report, with the reason: the lines are the jobs, the
// damaged lines and the lines left out. Values that a job does not hold come from its record: its
// wait in the log, its memory, its status.
//
// # One pass
//
// A log is read once, in the order of submission. Memory does not grow with the number of jobs: a
// Sample keeps at most 131,072 different values of a quantity, and a job is forgotten at its end.
// Memory grows with the number of users (and groups, executables, ...), up to a million of each,
// and with the number of weeks.
//
// # Oddities
//
// Feitelson and Tsafrir ("Workload sanitation for performance evaluation", ISPASS 2006) and
// Feitelson, Tsafrir and Krakov ("Experience with using the Parallel Workloads Archive", JPDC 74,
// 2014) describe faults that make logs useless as they are: bursts of one user's jobs, times when
// the machine was down, records that contradict each other or the header. They found these faults
// by looking at logs. This package finds them by rules of its own, which stand beside the constants
// in oddities.go. An oddity needs a look; a log without oddities may still have faults.
package facts

// Package facts tells what is in a log: sizes and runtimes of its jobs, how good the estimates
// are, when jobs come, what load they offer week by week, who submits them, and what is odd about it.
// And it tells how far two logs are apart, so that a model can be judged by the log that it is
// to resemble.
//
//	facts, report, err := facts.Of(ctx, trace)
//	facts.Runtimes.Median              what was found, ready for JSON
//	report                             and an account of every line
//	facts.Compare(mine, theirs)        Kolmogorov-Smirnov, Wasserstein
//
// # Of which jobs
//
// Of those that workload.Options make of the log, which are those that a simulation is given: with
// their sizes, estimates and submissions. A record that makes no job (never ran, no processors known)
// is in the report, with the reason; so the lines are the jobs, the damaged lines and those left out.
// What a job does not hold (its wait in the log, memory, status) is its record's.
//
// # One pass
//
// A log is read once, in the order of submission, and memory does not grow with the jobs: a
// Sample keeps 131,072 different values of a quantity, and what runs is forgotten when
// it ends. It grows with the users (and groups, executables, ...), up to a million of each, and with the weeks.
//
// # What is odd
//
// Feitelson and Tsafrir ("Workload sanitation for performance evaluation", ISPASS 2006) and
// Feitelson, Tsafrir and Krakov ("Experience with using the Parallel Workloads Archive", JPDC 74,
// 2014) tell what makes logs useless as they are: bursts of one user's jobs, times when the machine
// was down, records that contradict each other or the header. They found these by looking. The rules by which this package finds them are its own, each written down with the
// constants in oddities.go. What such a rule points at is to be looked at; that it points at
// nothing is no proof.
package facts

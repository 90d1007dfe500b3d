// Package users finds the users in a log: their sessions, the batches of jobs that they
// submit without waiting, and how long they think before the next one. With these a log
// reacts to the schedule, and new logs are made of its users.
//
//	records --> Splitter --> step: session, batch, what the job waits for
//	              |            |
//	              |            +--> Survey    facts of each user and of the log
//	              |            +--> Feedback  fields 17 and 18, for a closed loop
//	              v
//	            Pool: the users of a log, whole
//	              |
//	              +--> Resample  a new log of any length, of as many users as wanted
//
// The terms are those of Shmueli and Feitelson ("On simulation and performance evaluation
// of parallel-system schedulers", IEEE TPDS 20(7), 2009) and of Zakay and Feitelson
// ("On identifying user session boundaries in parallel workload logs", JSSPP 2012;
// "Workload resampling for performance evaluation of parallel job schedulers", CCPE
// 26(12), 2014; "Preserving user behavior characteristics in trace-based simulation of
// parallel job scheduling", MASCOTS 2014). Only what their abstracts say could be
// held against the papers. The rest is our reading, and an option says so where there is
// a choice.
//
// Where ends count, the log must tell waits: see Rule.NoWait.
package users

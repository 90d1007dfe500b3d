// Package validate checks whether a schedule could have happened, and whether it keeps the promises
// of its policy. A wrong simulator gives figures as readily as a right one. So the validators trust
// nothing that the engine computed, and share no code with the engine or the policies.
//
// There is one checker of capacity, processors, nodes, outages and promises. Two feeders tell it
// of neutral events: one watches a run, the other reads what a run has written, and each checks
// what only it can know:
//
//	Metascheduler --JobEvent--> Validator --+
//	                                        +--> checker --> Report --> Violation, ...
//	jobs-POLICY.csv --+                     |
//	                  +--> Jobs ------------+
//	the trace --------+
//
// # The life of a job, as the Validator sees it
//
//	            promised                         finished, killed
//	             +---+                          +----------------> gone
//	             v   |        started           |
//	submitted -> waiting ---------------> running
//	             |   ^                          |
//	    rejected |   +--------------------------+
//	             v              requeued
//	            gone
//
// An event that has no arrow here is a violation. At "submitted" the Validator
// notes the runtime and the estimate. At "started" it looks whether the job came
// too early, out of order, or after a promise. When the instant is over, whatever
// left has made room and whatever started takes it: there must be enough of it,
// and no processor or node may have two jobs. At "requeued" it notes how much of
// the runtime was kept, and that it is no more than was done. At "finished" and
// "killed" the run must have taken the time that is left, neither more nor less.
//
// # Promises
//
// What any schedule must keep is always checked. What a policy promises beyond it
// is told by Promises: the order of FCFS, the head's reservation of EASY, every
// job's reservation of conservative backfilling.
//
// # Where to begin
//
//	check := &validate.Validator{Promises: validate.Promises{Order: true}}
//	meta := entity.NewMetascheduler(sim, plan, policy, check)
//	... run ...
//	if err := check.Report(true).Err(); err != nil {
//
// Read Validator, then Jobs. docs/guides/results.md has the same for the
// command line.
package validate

// Package vo generates the environments and the batches of the papers on
// scheduling in virtual organisations: nodes of unequal performance and price
// that their owners use too, and the jobs of the organisation's users.
//
//	Environment   nodes and owners' tasks       META, DEP18
//	Batch         jobs with budgets             META
//	OwnJobs       owners' jobs for queues       ours
//	AMP11Slots    slots without nodes behind    AMP11
//	AMP11Jobs     requests with price limits    AMP11
//
// A generator is a struct of its settings. The zero value of a setting is the
// papers' value, named in its comment. Generate(seed, replication) is a function
// of its arguments: every source of randomness has a stream of its own (see
// des.NewStream), so that a change of one setting leaves the rest as it was, and
// node i is the same however many nodes follow it.
//
// Times are in the papers' time units, which are seconds of des.Time.
//
// Sources, by the short names used throughout:
//
//	AMP11  Toporkov, Yemelyanov, Toporkova, Bobchenkov: Resource Co-allocation
//	       Algorithms for Job Batch Scheduling in Dependable Distributed
//	       Computing, 2011
//	META   Toporkov et al.: Metascheduling and Heuristic Co-Allocation
//	       Strategies in Distributed Computing, Computing and Informatics 34, 2015
//	DEP18  Toporkov, Yemelyanov: Dependable and Coordinated Resources Allocation
//	       Algorithms for Distributed Computing, 2018
package vo

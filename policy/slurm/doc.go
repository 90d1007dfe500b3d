// Package slurm schedules as slurmctld of Slurm 22.05 does, start for start.
//
// A Controller is the scheduling side of slurmctld. It has three loops, each of which wakes at
// whole seconds since the controller began:
//
//	main loop     every second: asks for a pass of the main scheduler where one is due,
//	              ends jobs beyond their limits, purges old records
//	backfill      every bf_interval, and only where something has changed since its last run
//	priorities    every PriorityCalcPeriod: usage decays, shares and priorities are computed anew
//
// A pass of the main scheduler goes through the queue in its order and starts what fits; a
// partition's first job that does not fit closes the partition, and its nodes, for the rest of the
// pass. Backfill goes through the same queue with a table of future intervals, in which it plans
// every job that does not start.
//
// The controller has no clock. Its caller tells it what happens (Submit, End, Release), asks Next when
// the controller wants to act, and calls Act then. The controller answers by calls of Started and
// Stopped.
//
//	caller                                   Controller
//	Submit, orders (Hold, Down, ...)  --->   Next changes
//	Act at the instant that Next says --->   Started(job), Stopped(job, why)
//	End(job)       its work is over   --->   its CPUs are free, its nodes complete
//	Release(job)   its nodes are free --->   a pass: Started(other job)
//
// Times are des.Time since the controller began. Slurm reckons in whole seconds of its host's
// clock, and some of its rules round to multiples of a minute there, so Config.Epoch says which
// second of that clock the beginning was.
//
// The rules are those of Slurm 22.05.8. Each was held to starts, nodes, cores and priorities that
// an unmodified slurmctld of that version gave. Comments name in parentheses the function or variable
// of its source that has a rule, or the key of slurm.conf that sets it. A model of the rules is not a model of a
// controller under load: a pass takes no time here, so that limits of a pass's time
// (max_sched_time, bf_max_time) never act.
package slurm

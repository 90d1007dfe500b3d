// Package slurmcheck finds out whether what a run under Slurm's rules has written could have happened
// there. It shares no rule with package slurm, which decides: files of a site are read by the same
// readers, and everything else is reckoned anew, from the events alone and in another way.
//
//	slurm.conf, jobs, reservations, orders --+
//	accounts (read here) --------------------+--> Events --> validate.Report
//	slurm-events.csv ------------------------+
//
// Every event is held against what the events before it have left: the life of its job, what is free
// on each node (cores, memory, devices, licences), what the job asks for, its partition, limits of
// QoSs and accounts, reservations, dependencies, begin times, holds, nodes that are down, the kill at
// the limit, whom preemption may hit, and the priority. A schedule that passes need not be Slurm's:
// which of several jobs that could start does so is checked by no one but the recordings of real
// controllers that package slurm is held to.
//
// Times are whole seconds, as the events have them.
package slurmcheck

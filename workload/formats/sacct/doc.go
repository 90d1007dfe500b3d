// Package sacct reads and writes Slurm's accounting, as sites have it: what the command
// sacct prints with --parsable2 or --parsable, with any --delimiter, and the same as CSV,
// with any choice and order of columns under their headings.
//
//	trace, err := workload.Options{Reading: workload.Reading{Format: sacct.Format{Zone: london}}}.Open("jobs.txt")
//
// # From a row to a record
//
//	JobID|User|Submit|Start|ElapsedRaw|State ...      heading.go: which column is what
//	7|ada|2024-01-31T10:00:00|...                     a job   --> workload.Record
//	7.batch||...                                      its steps: memory, CPU time and
//	7.0||...                                          energy go into the job above them
//	8_[5-10%2]|bob|...                                tasks of an array that wait: a record
//
// A step (JobID with a dot) never becomes a record. If its job's row stands before it,
// with nothing but steps of that job between, the job's max_rss and ave_cpu are the largest
// of its own and its steps', and its energy is the sum of its steps' where its own row has
// none. Steps elsewhere are only counted.
//
// # What stands for what
//
// A record's number is JobIDRaw, or else the number JobID begins with. The tasks of an array share
// that, as the parts of a heterogeneous job do: the first keeps it, and the others are given the
// numbers above all in the log, in the order of the rows. User, Group and Partition are numbered
// in the order of the rows, unless all of a column are numbers; where only UID or GID are there,
// these are the numbers. A partition is also the job's queue. The requested time is the limit
// (Timelimit). The average CPU time is TotalCPU by the processors. The requested memory of a
// processor is the memory of the job divided by its processors, cut to whole kB; the column memory
// has the memory of the job. The runtime of a job that still runs is not known: what it has run so
// far is column elapsed.
//
// # Instants
//
// Instants are seconds since 1970 or local times of Format.Zone, and the earliest submission
// is where the log begins. A local time that the clock passes over when it is set
// forward is read as if it had not been set yet. One that it shows twice, when it is set back,
// is the first of the two, unless another instant of the row that must come
// before it (Submit before Eligible and Start, Start before End) leaves only the second.
//
// What a row says is from sacct(1) of Slurm 25.11. From experience only: that ReqMem
// without a unit is in MiB, that MaxRSS without one is in bytes, what the endings n
// and c of ReqMem mean (a node, a processor; Slurm before 21.08), that the prefixes of
// ConsumedEnergy are of 1000, and that a job's energy is the sum of its steps'.
package sacct

// Package sacct reads and writes Slurm's accounting: the output of the command sacct with
// --parsable2 or --parsable, with any --delimiter, and the same table as CSV. The columns may be
// any, in any order, under their headings.
//
//	trace, err := workload.Options{Reading: workload.Reading{Format: sacct.Format{Zone: london}}}.Open("jobs.txt")
//
// # From a row to a record
//
//	JobID|User|Submit|Start|ElapsedRaw|State ...      heading.go: the meaning of each column
//	7|ada|2024-01-31T10:00:00|...                     a job   --> workload.Record
//	7.batch||...                                      its steps: memory, CPU time and
//	7.0||...                                          energy go into the job above them
//	8_[5-10%2]|bob|...                                waiting tasks of an array: a record
//
// A step (JobID with a dot) never becomes a record. A step adds to its job if the job's row stands
// before it, with nothing but steps of that job in between: max_rss and ave_cpu of the job are the
// largest values of its own row and its steps, and its energy is the sum over its steps if its own
// row has none. Other steps are only counted.
//
// # Fields of a record
//
// The number of a record is JobIDRaw or, without that column, the number at the beginning of
// JobID. All tasks of an array begin with the same number, and so do the parts of a heterogeneous
// job: the first row keeps the number, and each further row gets a new number above all numbers of
// the log, in the order of the rows.
//
//	user, group      User and Group, numbered in the order of the rows, unless all of a column
//	                 are numbers; UID and GID if only these are there
//	partition        numbered in the same way; it is also the job's queue
//	requested time   Timelimit
//	CPU time         TotalCPU divided by the processors
//	memory           requested per processor: the memory of the job divided by its processors,
//	                 cut to whole kB; the column memory has the memory of the whole job
//	runtime          unknown while the job runs; the column elapsed has its time so far
//
// # Instants
//
// Instants are seconds since 1970 or local times of Format.Zone. The log begins at the earliest
// submission. When the clock is set forward, it skips some local times: such a time is read as if
// the clock had not been set yet. When the clock is set back, it shows some local times twice: such
// a time means its first instant, unless an instant that must come before it in the row (Submit
// before Eligible and Start, Start before End) leaves only the second.
//
// The meaning of the columns is from sacct(1) of Slurm 25.11. Some facts are known from experience
// only: ReqMem without a unit is in MiB; MaxRSS without a unit is in bytes; the endings n and c of
// ReqMem mean per node and per processor (Slurm before 21.08); the prefixes of ConsumedEnergy are
// powers of 1000; the energy of a job is the sum over its steps.
package sacct

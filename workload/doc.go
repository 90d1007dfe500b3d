// Package workload brings jobs into a simulation, and writes them down again. It
// reads and writes logs in the Standard Workload Format (SWF), and decides by
// named conventions how a record of a log becomes a job.
//
// The random models of the literature are in package workload/model, the
// environments and batches of the papers on virtual organisations in
// workload/vo. Package workload/jobfile reads and writes workloads in which jobs
// state whole requests, with prices, deadlines and criteria. Package workload/where makes
// filters of expressions, and workload/clean has what cleans, splits and merges logs.
//
// # From a line to a job
//
//	file, plain or .gz or .zst               open.go
//	  |
//	  |  text, in blocks                       of another format: format.go,
//	  v                                        packages formats, sacct, csv, ...
//	Reader --> Header: what the comments say swf.go, swfparse.go, header.go
//	  |   \
//	  |    +-> Report: what was odd          report.go
//	  |  Record, the 18 fields of a line
//	  v
//	Options: Where, which records are taken  jobs.go, package where
//	  |
//	  v
//	Options: which field is the size, what stands for a missing estimate, ...
//	  |                                      options.go, rules.go
//	  |  entity.Job
//	  v
//	Options: Sort, Skip, First, Load, Shift  transform.go
//	  |
//	  |  entity.Job, in the order of submission
//	  v
//	JobStream.Next, one job at a time
//
// Writer takes records the other way, and RecordOf makes a record of a job.
//
// # Where to begin
//
//	trace, err := workload.Options{Part: workload.Part{First: 5000}}.Open("KTH-SP2-1996-2.1-cln.swf.gz")
//	for job := range trace.Jobs() { ... }
//	err = trace.Err()
//	fmt.Println(trace.Report())
//
// Options name the conventions, because logs leave them open and simulators
// differ. Their zero value is the default of the command.
//
// # What goes wrong
//
// A Report counts by reason what was left out or changed on the way, with the
// first lines of each; nothing is dropped in silence, and the lines read are the
// sum of the jobs, the damaged lines and those left out. What is never guessed is
// an error: input that is no SWF (ErrNotSWF), an archive that ends too early,
// submissions that go backwards (OrderError, unless Options.Sort), and in
// strict mode any damaged line. A header that
// disagrees with its records is only noted, because in cleaned logs it counts the
// jobs that have been cleaned away.
package workload

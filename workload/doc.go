// Package workload brings jobs into a simulation, and writes them down again:
// logs in the Standard Workload Format, random models, and transformations of
// either.
//
// # Logs
//
// A Trace is an SWF file (plain, .gz, .zst, or standard input) and the
// conventions by which its records become jobs:
//
//	trace, err := workload.Options{First: 5000}.Open("KTH-SP2.swf.gz")
//	for job := range trace.Jobs() { ... }
//	err = trace.Err()
//	fmt.Println(trace.Report())
//
// Options name the conventions, because logs leave them open and simulators
// differ: which field is the size, what stands for a missing estimate, what
// becomes of a runtime above it.
//
// What was left out or changed on the way is counted in a Report, by reason,
// with the first lines of each; nothing is dropped in silence, and lines =
// jobs + damaged + left out. What is never guessed is an error: input that is
// no SWF (ErrNotSWF), an archive that ends too early (ErrTruncated),
// submissions that go backwards (OrderError, unless Options.Sort), and in
// strict mode any damaged line (LineError). A header that disagrees with its
// records is only noted: in cleaned logs it counts what has been cleaned away.
//
// Reader and Writer give the records themselves, with their header; Skip,
// First, ShiftToZero, ScaleArrivals and SortBySubmission transform sequences
// of records and of jobs alike.
package workload

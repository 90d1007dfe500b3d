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
// What was left out or changed on the way is counted in a Report, by reason,
// with the first lines of each; nothing is dropped in silence. Reader and
// Writer give the records as they are.
package workload

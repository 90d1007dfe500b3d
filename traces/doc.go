// Package traces holds the sample trace that the command runs when it is given
// none, a catalogue of the logs of the Parallel Workloads Archive, and finds logs
// that package fetch has brought.
//
//	trace, err := workload.ReadSWF(traces.Sample())    // runs from any folder
//	for _, log := range traces.Catalogue() { ... }     // names, sizes, what to know
//	path, err := traces.Find("KTH-SP2-1996-2.1-cln")   // a file, or a fetched log
//
// The sample is generated, by the models of package workload: no log of a real
// machine is distributed with the project, since none of the archive's carries
// an open licence.
package traces

// Package traces holds the sample trace that the command runs when it is given
// none, and a catalogue of the logs of the Parallel Workloads Archive.
//
//	trace, err := workload.ReadSWF(traces.Sample())    // runs from any folder
//	for _, log := range traces.Catalogue() { ... }     // names, sizes, what to know
//
// The sample is generated, by the models of package workload: no log of a real
// machine is distributed with the project, since none of the archive's carries
// an open licence.
package traces

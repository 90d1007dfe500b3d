// Package perfetto writes what a run did in the Trace Event Format of Chrome (the
// form of a JSON object), which ui.perfetto.dev, chrome://tracing and others open.
//
//	folder, err := results.Open("results")
//	err = perfetto.Write(w, folder, folder.Runs[0])
//
// What a viewer shows as a process is the run, and each site of a grid or domain of
// a union; what it shows as a thread is
//
//   - a node, where nodes have names: on it the tasks of jobs, advance reservations,
//     owners' jobs and outages;
//   - otherwise a processor, with the jobs whose lowest one it is. Jobs on equal
//     processors can be on many at a time; they are drawn once. Where the file tells
//     no processors, jobs fill rows from the first one on;
//   - a row of what is out of service on such a machine, and one of rejected jobs.
//
// Queue and busy processors are counters of the run. A microsecond of the format is a
// tick: the viewer's seconds are those of the simulation.
//
// Format: "Trace Event Format", N. Duca and D. Sinclair, 2016.
package perfetto

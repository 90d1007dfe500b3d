// Package run carries out simulations: a workload, a policy and the
// conventions in, a summary and files out. The command, the sweeps and the
// reproductions share this one text.
//
//	trace, err := workload.OpenSWF("KTH-SP2-1996-2.1-cln.swf.gz")
//	jobs, err := trace.Open()
//	result, err := run.Simulate(ctx, jobs, run.Settings{
//		Policy: backfill.EASY{}, Processors: trace.MaxProcs, Dir: "out",
//	})
//	fmt.Println(result.Summary)
//
// "gridslot report out", and the other tools for results, open the folder then.
//
// Session is what every run has, whatever the machine: a simulator, a recorder,
// the files, a stopwatch. Package scenario runs domains and grids by it.
//
//	Begin -> Files, Create ... -> Schedule -> Commit -> Close
package run

// Package run carries out simulations: a workload, a policy and the
// conventions in, a summary and files out. The command, the sweeps and the
// reproductions share this one text.
//
//	trace, err := workload.OpenSWF("KTH-SP2.swf.gz")
//	jobs, err := trace.Open()
//	result, err := run.Simulate(ctx, jobs, run.Settings{
//		Policy: backfill.EASY{}, Processors: trace.MaxProcs, Dir: "out",
//	})
//	fmt.Println(result.Summary)
package run

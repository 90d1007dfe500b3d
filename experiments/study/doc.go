// Package study reads a study from a file and carries out its cases: simulations
// that differ in their settings and seeds. docs/reference/study.md lists the keys.
//
//	traces: [KTH-SP2-1996-2.1-cln.swf.gz, CTC-SP2-1996-3.1-cln.swf.gz]
//	policies: [easy, easy-sjbf]
//	load: [0.7, 0.9]
//	replications: 20
//
// A Definition is the study as it was read; what carries it out is package sweep.
//
//	f, err := study.Open("study.yaml", tables)
//	s, err := f.Study(sweep.Build(version))     plan, checksums of the files, limits
//	s.Dir = "results"
//	results, err := sweep.Run(ctx, s, f.Do)
//
// Every list of the file is an axis, and a case is a value of each: the names of
// parameters are those of scenario's settings, "trace" and "policy" among them,
// "scenario", "domain" or "grid" for the file of a machine, and names of the
// study's own, which stand in other values as {NAME}.
//
//	Definition  keys (keys.go) -> axes (read.go) -> cells (cells.go) -> sweep.Study
//	Do          a case -> simulation.Scenario -> simulation.Run -> a row (do.go)
package study

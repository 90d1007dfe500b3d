// Package cli is the command gridslot, and the command of programs of one's own, which is
// gridslot plus what Extend adds. Every subcommand is a file; what they share (exit codes, flags
// that describe a workload, progress, the wording of wrong usage) stands in cli.go, flags.go,
// progress.go and wording.go.
//
//	arguments -> flags -> simulation.Scenario -> simulation.Run -> files, summary
//	                      a file, and the flags in place of what it says
//
// Main is a call with the process's own streams, Run one with any. Tables of names
// are made once a call, in newRoot, and handed down. Begin with cli.go and simulate.go.
//
// Exit codes: 0 success, 1 the work failed or was interrupted, 2 wrong usage.
package cli

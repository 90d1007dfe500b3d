// Package cli is the command gridslot, and the command of programs of one's own, which is
// gridslot plus what Extend adds.
//
//	arguments -> flags -> simulation.Scenario -> simulation.Run -> files, summary
//	                      a file, and the flags in place of what it says
//
// Main is a call with the process's own streams, Run one with any. Tables of names
// are made once a call, in newRoot, and handed down. Begin with cli.go and simulate.go.
//
// Every command is a file:
//
//	simulate, validate, explain, plot, report, reproduce, window    the file of that name
//	trace info        traceinfo.go, tracefigures.go; of two logs tracecompare.go, with --users
//	                  users.go, with --check trace.go
//	trace convert     convert.go and clean.go; in parts convertparts.go, what is no log convertmade.go
//	trace list        catalogue.go
//	trace fetch       fetch.go
//	sweep             sweep.go, sweepfolder.go, sweepprobe.go; report --table is reporttable.go
//	help              help.go
//
// and what they share stands in a file for each purpose:
//
//	cli.go            the call: streams, signals, exit codes
//	flags.go          flags, of which those of settings come from simulation.SettingTable
//	scenariofile.go   the file that describes a run, for simulate and validate
//	output.go         tables, CSV and JSON on standard output
//	logout.go         a log that is written
//	wording.go        wrong usage, and text that is harmless to a terminal
//	progress.go       the bar; watch.go the live view
//
// A command refuses wrong usage by usagef before it reads or writes anything. What it finds goes
// to standard output by tell; what a user should know beside it goes to standard error by teller.
// Files appear whole or not at all: packages atomicfile and outdir see to that.
//
// Exit codes: 0 success, 1 the work failed or was interrupted, 2 wrong usage.
package cli

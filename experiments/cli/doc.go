// Package cli is the command gridslot. Every subcommand is a file; what they
// share (exit codes, flags that describe a workload, progress) stands in
// cli.go, flags.go and progress.go.
//
// Exit codes: 0 success, 1 the work failed or was interrupted, 2 wrong usage.
package cli

// Package results reads back the folder that a simulation has left
// (docs/reference/files.md), for programs that draw, compare or explain.
//
//	Open(dir) -> Folder -+-> Manifest, Summary, Nodes()
//	                     |
//	                     +-> Runs: one a policy -+-> Jobs(), Queue(), Attempts(), Tasks(), ...
//	                                             |
//	                                             +-> Sites: of a grid, each a Run again
//
// Files are read when they are asked for, and only then. Columns are found by
// their names: what a newer program has added is passed over, and what an older
// one did not write is missing in every row. A method returns nil without an
// error where the run has no such file: Run.Has tells beforehand.
//
// # What is missing
//
// Times are in ticks, exactly as they were simulated. One that there is none of
// (the start of a job that was rejected; -1 or nothing in the file) is None.
// Amounts of money, energy and ratios are NaN then, numbers of users -1.
package results

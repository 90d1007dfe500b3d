// Package faults does to studies what befalls them, for real: the command as
// processes of their own, killed, stopped, out of room. Its tests end with the table
// of docs/reference/study.md.
//
//	go test ./experiments/sweep/faults -run Faults -v           a few of each fault, seconds
//	go test ./experiments/sweep/faults -run Faults -v -whole    as often as the page says
//	go test ./experiments/sweep/faults -run Faults -write       and write the page's table
//
// A fault is a row of the table, with the function that does it. What is left at the
// end has to be, file by file and byte for byte, what a call leaves to which
// nothing happens. Where the tests of an engine do a fault already, the row names them, and the
// whole table runs them.
package faults

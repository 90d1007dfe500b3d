// Package scan has the common parts of the readers of logs that are text: lines (Lines), the cells
// of a line (Cut, CutBlanks, CutQuoted), instants (Instant), texts that rows repeat (Kept, Memo),
// and numbers of jobs that are given twice (NumberSet). Nothing here allocates for each line of a
// log. Numbers are read by package internal/number.
package scan

// Package scan is what readers of logs share that read text: lines (Lines), the cells of a line (Cut,
// CutBlanks, CutQuoted), instants (Instant), texts that rows repeat (Kept, Memo), and numbers of jobs
// that are given twice (NumberSet). Nothing here allocates for each line of a log. Numbers are read by
// package internal/number.
package scan

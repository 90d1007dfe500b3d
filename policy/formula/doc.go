// Package formula makes orders of a queue of arithmetic over what is known of a job:
//
//	-(wait/estimate)^3 * procs             WFP3: what has waited long, is short and wide
//	sqrt(estimate)*procs + 25600*log10(submit)
//	wait > 86400 ? -1e9 : estimate*procs   who has waited for a day goes first
//	column.gpus > 0 ? 0 : submit           a column of the log beyond what a job holds
//
// The job of the lowest value goes first; ties, as everywhere, in order of submission.
// Numbers are float64 and times seconds. A value that is no number, such as 0/0, puts
// its job last; infinities, such as log(0), stand before and behind all else.
//
// The language is that of package expression. Its parser is why this package stands apart
// from package backfill.
package formula

// Package findings turns the results of a study, a row a run, into what they say: means
// with intervals, comparisons of policies on the same seeds or weeks, rankings,
// sensitivities, and tables and figures of these.
//
//	results.csv -> Open, Read -> Results -> Analyze -> Findings -+-> Save: summary.csv, comparisons.csv, ...
//	                                                             +-> Grids -> Write: Markdown, LaTeX, CSV
//	runs/KEY/batches.csv ---------^                              +-> package figure, the page of a report
//
// It knows nothing of what made the results: any table will do in which parameters stand in
// front of a column seed and numbers behind it.
//
// # Cells and pairs
//
// A cell is all runs that differ in their seeds only; no figure here is over two of them.
// Cells that differ in the parameters of the baseline only, and in no other, are compared, run
// by run of the same seed: those have met the same chance, and what they share is not in
// the difference.
//
// # Where the observations come from
//
// Seeds, if they make a difference. The runs of a log without any chance are all the same, and
// an interval of width 0 would be a lie: such a cell has one observation and no
// interval, or, where its runs were cut into batches (a BatchRecorder), as many as there are
// weeks. Weeks of two runs are pairs as well: they have the same jobs. Weeks that depend
// on their neighbours are joined until they do not. An interval over seeds tells how the
// model of chance varies, one over weeks how the log does: neither tells of other logs.
//
// # Many comparisons
//
// All comparisons of one measure are a family, and the verdicts are by the paired t test with
// Holm's correction over it. Wilcoxon's test stands beside it in comparisons.csv: where the
// two disagree, a few runs or weeks make the difference.
package findings

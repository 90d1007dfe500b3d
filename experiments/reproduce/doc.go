// Package reproduce runs the published experiments of AMP11, META and DEP18,
// others that the field has published of real logs, and some of our own, by name.
//
//	for _, e := range reproduce.All() {
//		table, err := e.Run(ctx, reproduce.Config{Cycles: 200, Seed: 1})
//		...
//		err = table.WriteMarkdown(os.Stdout)
//	}
//
// An experiment is a page of papers/*.yaml and a program. The page has what is said, and what is
// compared: settings and where they come from, algorithms, what was published, what is claimed.
// The program, a struct that is read from the page, yields the figures of a table: for each
// published figure the paper's value, the value of the authors' program where it is known, and
// ours with a 95% interval.
//
// A cycle is one replication: an environment drawn anew, the same for every
// algorithm that is compared (common random numbers), so that differences are
// judged in pairs. Cycles run in parallel; what they observed is added up in
// their order, so results do not depend on the number of workers. Measured
// times are the exception, and marked.
//
// An experiment is a study of package sweep, of which bundles of cycles are the
// units: with Config.Dir they are kept, each whole or not at all, and what is there
// is not computed again by the same program with the same settings.
//
// Some repeat what others have published of the same jobs: a cycle is one schedule of
// these. They look for logs and published files in the folders that GRIDSLOT_TRACES and
// GRIDSLOT_REFERENCE name, and are a *MissingError without them. What is half done of
// them is not kept in Config.Dir.
//
// To add an experiment write its page, and name it in All with the type of its program:
// one there is, such as searches or planning, or another that is replicated (cycles that
// observe rows) or measured (rows of one schedule each).
//
// docs/papers has a page for each paper: what it claims, what held, what did not, and where
// its formulas are. All figures and verdicts stand beside the pages as CSV.
package reproduce

// Package ended says how attempts end, as attempts-POLICY.csv does; see
// docs/reference/files.md.
package ended

// How an attempt ended.
const (
	Requeued = "requeued"
	Finished = "finished"
	Walltime = "walltime" // killed at its estimate
	Killed   = "killed"
	Resized  = "resized" // and the next one began
)

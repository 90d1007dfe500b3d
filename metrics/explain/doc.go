// Package explain tells why a job of a finished simulation started when it did, or
// did not: from the files that the run has left (package results), above all the log
// of decisions that simulate --decisions writes.
//
//	log, err := explain.Read(run)     // a *results.Run, one policy
//	stories, err := log.Job(4711)
//	for _, line := range stories[0].Lines { fmt.Println(line) }
package explain

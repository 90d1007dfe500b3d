// Package swarm lets seeds look for faults. It holds tests only.
//
// One seed draws a world: a machine (a cluster, a domain of priced nodes, a grid, a
// site where Slurm decides, a metascheduler in a program, a study), a few jobs, policies, and a random subset of all
// features, most of which are off. The world is carried out in this process, and oracles
// check what came of it. Groce and others (Swarm testing, ISSTA 2012) found that a subset
// of features finds more than all of them at once: a feature that is on hides what others
// do.
//
//	go test ./experiments/swarm                         the seeds of every run of the tests
//	go test ./experiments/swarm -seeds 5000 -first 1000 others
//	go test ./experiments/swarm -seed 17 -v             one of them, with its calls
//
// A failure is made smaller, and its message names the command that repeats it.
// docs/design/testing.md tells how a feature is added: one row of the table in
// features_test.go.
package swarm

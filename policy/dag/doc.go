// Package dag schedules tasks that wait for each other: list scheduling on unequal
// processors.
//
// # Ahead of time
//
// A Problem is a directed acyclic graph of tasks with what each costs on each
// processor, and what the data on each edge costs between two of them. An
// Algorithm makes a Schedule of it:
//
//	HEFT     upward ranks, earliest finish time by insertion
//	CPOP     the critical path on one processor
//	MinMin   the ready task that can finish first
//
//	p := dag.Problem{Cost: [][]des.Time{{14, 16, 9}, {13, 19, 18}}, Edges: []dag.Edge{{From: 0, To: 1, Comm: 18}}}
//	s, err := dag.HEFT{}.Plan(&p)
//
// HEFT and CPOP: Topcuoglu, Hariri, Wu, "Performance-effective and low-complexity
// task scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002.
//
// # As it goes
//
// List is a policy of the engine: of the jobs that have come it starts those of the
// highest upward rank first, each where it finishes earliest. The engine knows no
// transfer of data between nodes: what an edge costs can be said by a
// Dependency.Think alone, which is paid wherever the two tasks run.
//
// Begin with problem.go, then heft.go; list.go is the policy.
package dag

// Package plan has the two plans of the framework: what is taken of a machine,
// and when.
//
//	Cluster   counts equal processors, for logs of millions of jobs
//	Domain    knows its nodes by name, performance and price, and asks a
//	          Finder for windows
//
//	free |______            ____
//	     |      |          |           a Cluster keeps the levels of this curve
//	     |      |__________|
//	     +--------------------> time
//
//	node 1  ####......####.........    # taken
//	node 2  ..####.........####....    . free: a slot
//
// A plan lives with a simulation: policies look for windows by Find, the
// metascheduler reserves, moves and releases them, and Forget moves the plan's
// beginning along with the clock. Package plantest holds any plan, one of your
// own as well, to what entity.Plan promises.
package plan

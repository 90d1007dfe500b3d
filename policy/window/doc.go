// Package window searches slot lists for windows: n nodes of unequal speed and
// price that are free at the same time.
//
// Every search is an [entity.Finder]: a small struct whose exported fields are
// its settings, safe for use by many goroutines at once.
//
//	rough right edge   ALP, AMP, AEP, CSA               (AMP11, META)
//	square             Cheapest, MultipleBest, Best     (DEP18)
//	reference          KnapsackDP                       (DEP18)
//
// With a rough right edge every task ends at its own time, V/p after the
// window's start; a square window holds all its nodes for V/p of the slowest.
//
// Best is the exact one: of all subsets of n slots at all starts it returns the
// one that is worth most to a [Criterion] within the budget, costs being real
// numbers. docs/design/exact-subset.md explains how and why.
//
// CheckSlots and Subtract work on slot lists; Problem and Solve read and answer
// searches written as JSON.
//
// Sources, by the short names used throughout:
//
//	AMP11  Toporkov, Yemelyanov, Toporkova, Bobchenkov: Resource Co-allocation
//	       Algorithms for Job Batch Scheduling in Dependable Distributed
//	       Computing, 2011
//	META   Toporkov et al.: Metascheduling and Heuristic Co-Allocation
//	       Strategies in Distributed Computing, Computing and Informatics 34, 2015
//	DEP18  Toporkov, Yemelyanov: Dependable and Coordinated Resources Allocation
//	       Algorithms for Distributed Computing, 2018
package window

// Package window searches slot lists for windows. A slot list says when each node
// is free; a window is n nodes, of unequal speed and price, that are free at the
// same time for as long as a job's tasks need, at a total cost within the budget.
//
// A task of volume V takes V/p on a node of performance p. So a window has one
// of two shapes. Here V = 12; '[' to ')' is a slot, '#' what the window takes:
//
//	      rough right edge      square
//	p=4   [==###======)         [==######===)
//	p=2     [######===)           [######===)
//	p=3   [==####==)            [==######)
//	         |                     |
//	         start                 start
//
// With a rough right edge each task ends at its own time, V/p after the start. A
// square window holds all its nodes for as long as the slowest of them needs.
//
//	rough right edge   ALP, AMP, AEP, CSA               (AMP11, META)
//	square             Cheapest, MultipleBest, Best     (DEP18)
//	reference          KnapsackDP                       (DEP18)
//
// Best is the exact search. Of all starts and all subsets of n slots it returns
// the window that is worth most to a [Criterion] within the budget, where costs
// are real numbers. docs/design/plans.md explains how and why.
//
// # The life of a search
//
// Every search is a [plan.Finder]: a small struct whose exported fields are
// its settings, and which many goroutines may use at once. Its Find
//
//  1. checks the request and the list, and takes scratch memory from a pool
//     (scan.go);
//  2. walks along the slot list in the order of starts, and keeps the slots that
//     can still hold a task at the present instant;
//  3. at each step chooses n of them, and keeps the choice if it is better by the
//     search's goal (goal.go);
//  4. makes the window of the best choice.
//
// # Where to begin
//
// Each algorithm opens its file with its definition: alp.go, amp.go, aep.go (with META's
// algorithm 2 in substitution.go), csa.go, square.go, best.go (with the problem of one step
// in subset.go), knapsack.go. Read amp.go first: its nCheapest is steps 2 and 3 in twenty
// lines. best.go needs the design page beside it. cheapest.go keeps the n cheapest of the
// slots that are usable as time goes by.
//
// # Many searches on one list
//
// Code that searches a list again and again, and cuts out what it finds, checks the list once
// (Checked) or uses an Exhaustion, in which searches take turns until nothing is left. A search by
// first fit goes along the list once in all its turns: exhaust.go tells why once is enough,
// firstfit.go has the search, and supply.go the list that is cut. With 80 jobs on 1,600 nodes a
// cycle takes a sixtieth of the time (docs/design/plans.md). Other searches begin anew at each
// turn.
//
// CheckSlots and Subtract work on slot lists; ByName is the table of all searches.
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

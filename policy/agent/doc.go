// Package agent decides for the brokers of a grid where the tasks of a job go:
// the co-allocation strategies of Makhlouf and Yagoubi (2011, "OAR11"), a hybrid
// of them that they propose as further work, and baselines to judge them by.
//
//	OAR            asks all clusters for their free slots and reserves those that end first
//	RLA            splits jobs in proportion to learned scores of the clusters
//	Hybrid         OAR, the slots ranked by learned scores
//	RoundRobin     whole jobs to the clusters in turn
//	ShortestQueue  jobs to the cluster for which least waits
//	Central        OAR's choice by one who sees every plan and needs no messages
//	Sites          whole jobs to one site: into its queue, by what it has to do, in turn or by its
//	               plan, or into the cheapest, the earliest or the preferred window
//
// A strategy belongs to one broker: what it learns stays with it. Registry has
// them by name. How RLA and Hybrid learn is a Reward, of which Rewards lists those
// that there are; a rule of one's own is a function.
package agent

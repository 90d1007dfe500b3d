// Package agent decides for the brokers of a grid where the tasks of a job go:
// the co-allocation strategies of Makhlouf and Yagoubi (2011, "OAR11"), a hybrid
// of them that they propose as further work, and baselines to judge them by.
//
//	OAR            asks all clusters for their free slots and reserves the slots that end first
//	RLA            splits jobs in proportion to learned scores of the clusters
//	Hybrid         OAR, the slots ranked by learned scores
//	RoundRobin     whole jobs to the clusters in turn
//	ShortestQueue  jobs to the cluster with the least waiting work
//	Central        OAR's choice, made with a view of every plan and without messages
//	Sites          whole jobs to one site: into its queue, by what it has to do, in turn or by its
//	               plan, or into the cheapest, the earliest or the preferred window
//
// A strategy belongs to one broker, and so does what it learns. Registry lists the
// strategies by name. A Reward says how RLA and Hybrid learn; Rewards lists the rules,
// and your own rule is a function.
package agent

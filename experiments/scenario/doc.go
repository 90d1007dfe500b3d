// Package scenario describes a whole simulation as one value and carries it out:
// which machine, which jobs, what else happens, which policies are compared, by
// which conventions.
//
//	Scenario
//	├── Machine    Cluster   processors, counted
//	│              *Domain   priced nodes of owners, planned by the cycle
//	│              *Grid     clusters, each with a scheduler; brokers; a network
//	├── Workload   a trace, a named source, jobs of a program, or a domain's batches
//	├── Flows      users' advance reservations
//	├── Policies   names with parameters; on a grid those of strategies
//	└── Settings   seed, pass, compression, allocation
//
// The life of a scenario:
//
//	sc, err := scenario.Read("grid.yaml", tables)   from a file, or written in Go
//	err = sc.Set("load", "0.9")                     any setting by the name of its flag
//	out, err := scenario.Run(ctx, sc, scenario.Options{Dir: "results"})
//	err = out.Print(os.Stdout, "table")
//
// Run opens the workload, takes the folder for itself, runs every policy in a
// Session of its own on some workers at a time, and writes the summary and the
// manifest. What is finished when the context ends is kept.
//
// A domain's and a grid's file are scenarios by themselves. A machine only says
// what is its own: see the interface Machine, and the files cluster.go, domain.go
// and grid.go, which implement it. Begin with scenario.go, then run.go.
//
// Names are looked up in Tables. A program that has policies, strategies,
// searches or sources of its own adds them there.
package scenario

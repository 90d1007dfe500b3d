// Package simulation describes a whole simulation as one value and carries it out:
// which machine, which jobs, what else happens, which policies are compared, by
// which conventions. What it leaves in a folder the command opens: gridslot report,
// plot, explain and validate.
//
//	tables := simulation.Standard()
//	tables.AddPolicies(policy.Entry[entity.Policy]{
//		Name: "mine", Text: "a policy of my own",
//		New: func(*policy.Args) entity.Policy { return Mine{} },
//	})
//	sc := simulation.New()                             // the sample on a cluster of its size
//	sc.Workload.Trace = "KTH-SP2-1996-2.1-cln.swf.gz" // or a log of one's own
//	sc.Policies = []string{"easy", "mine"}
//	out, err := simulation.Run(ctx, sc, simulation.Options{Tables: tables, Dir: "results"})
//	err = out.Print(os.Stdout, "table")
//
// The example below is the whole program. Simulate is the short way for one policy on a
// cluster, with jobs as they are, and without names; Begin is the same a step at a time.
//
//	Scenario
//	├── Machine    Cluster   processors, counted
//	│              *Domain   priced nodes of owners, planned by the cycle
//	│              *Grid     clusters, each with a scheduler; brokers; a network
//	├── Workload   a trace, a named source, jobs of a program, or a domain's batches
//	├── Flows      users' advance reservations, outages
//	├── Policies   names with parameters; on a grid those of strategies
//	└── Settings   seed, pass, compression, allocation
//
// The life of a scenario:
//
//	Read, New, FromManifest    from a file, from nothing, from the folder of a run
//	Set                        any setting by the name of its flag
//	Run                        every policy, each in a session of its own
//	RunUntil                   the same up to an instant; what it returns can be saved and resumed
//	Print                      the summary
//
// Run opens the workload, takes the folder for itself, runs every policy on some workers
// at a time, and writes the summary and the manifest. What is finished when the context
// ends is kept.
//
// A machine is made of sites, each with a plan, a policy and flows: see machineSite and
// siteFlow in site.go. Every run takes the way that session shows, in session.go.
//
// A domain's and a grid's file are scenarios by themselves. A machine only says
// what is its own: see the interface Machine, and the files cluster.go, domain.go
// and grid.go, which implement it. Begin with scenario.go, then run.go.
//
// Names are looked up in Tables. A program that has policies, strategies,
// searches or sources of its own adds them there.
package simulation

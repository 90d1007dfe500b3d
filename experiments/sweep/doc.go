// Package sweep carries out studies: a grid of settings times replications,
// thousands of simulations that lose nothing. It knows nothing of simulations: a
// unit of work is any function of (case, seed) that gives a row of a table.
//
//	study := sweep.Study{
//		Axes:  []sweep.Axis{sweep.List("policy", "easy", "fcfs"), sweep.List("load", "0.7", "0.9")},
//		Seeds: sweep.Seeds(1, 20),
//		Dir:   "results",
//	}
//	results, err := sweep.Run(ctx, study, func(ctx context.Context, c sweep.Case) (sweep.Row, error) {
//		...
//		return sweep.Row{{"mean_wait", "12.5"}}, nil
//	})
//
// What Dir has already is not computed again; what is computed is there whole or
// not at all, in files named by what they are the result of.
//
//	Study -> Plan -> what is missing -> Engine -> Store -> Folder -> results.csv
//
// The key of a unit is a checksum of all that its result depends on: the program,
// the files that it reads, its parameters, its seed. So a result needs no journal
// and no owner: whoever computes it writes the same bytes under the same name, and
// a plan that has changed finds what it still has. An input counts for the units
// that name it only (Input.Of), so that another log in a study computes nothing
// anew.
//
// The file of a unit has a checksum in it. A torn file, for example after a loss of power, counts
// as missing. Two results that differ are a failure of kind Damaged: neither of them is trusted.
//
// Results do not hold what differs each time; times, memory and hosts are in
// usage.csv. Whoever begins writes plan.csv and manifest.json, which are the same
// for all who share a study. Who has the folder alone (a lock) writes what is made
// of all results: results.csv and usage.csv. Several processes can share the folder,
// and then store units only; see Shard.
//
// An Engine gets the missing units and stores what became of them, in any order:
// InProcess in goroutines, Local in worker processes. Package slurm below has a batch
// system carry out shards.
package sweep

package simulation

import (
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/sacct"
)

// sacctFormat is Slurm's accounting, see package sacct.
var sacctFormat = policy.Entry[workload.Format]{
	Name: "sacct", Text: "Slurm's accounting, as sacct --parsable2 prints it, or the same as CSV",
	Params: []policy.Param{{Name: "zone", Values: areaCity, Text: "time zone of the cluster, as in Europe/London (UTC)"}},
	New:    func(a *policy.Args) workload.Format { return sacct.Format{Zone: zoneOf(a)} },
}

package simulation

import (
	"strings"

	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/alibaba"
	"github.com/gridslot/gridslot/workload/formats/fdata"
	"github.com/gridslot/gridslot/workload/formats/google"
	"github.com/gridslot/gridslot/workload/formats/parquet"
	"github.com/gridslot/gridslot/workload/formats/philly"
	"github.com/gridslot/gridslot/workload/formats/pm100"
)

// This file has the formats of what computing centres have published of their jobs.

func centres() policy.Table[workload.Format] {
	zone := policy.Param{Name: "zone", Values: areaCity, Text: "of times without one, as in Asia/Tokyo (UTC)"}
	unit := policy.Param{Name: "unit", Values: "nodes|cores", Text: "what the processors of jobs are (nodes)"}
	return policy.Table[workload.Format]{
		{
			Name: "parquet", Text: "Apache Parquet with a column a field of SWF, for notebooks",
			New: func(*policy.Args) workload.Format { return parquet.Format{} },
		},
		{
			Name: "google", Text: "Google's ClusterData 2011: events of jobs or tasks",
			Params: []policy.Param{
				{Name: "table", Values: strings.Join(google.Tables, "|"), Text: "which one it is (job_events)"},
				{Name: "size", Values: "N", Text: "processors of a job, of which job_events does not tell (1)"},
			},
			New: func(a *policy.Args) workload.Format {
				return google.Format{Table: google.Table(a.OneOf("table", google.Tables...)), Size: a.Positive("size")}
			},
		},
		{
			Name: "alibaba", Text: "Alibaba's traces of 2018 and, with GPUs, of 2020: tasks or instances",
			Params: []policy.Param{
				{Name: "table", Values: strings.Join(alibaba.Tables, "|"), Text: "which one it is (batch_task)"},
				{Name: "size", Values: strings.Join(alibaba.Sizes, "|"), Text: "what the processors of a task are (cores)"},
			},
			New: func(a *policy.Args) workload.Format {
				return alibaba.Format{Table: alibaba.Table(a.OneOf("table", alibaba.Tables...)), Size: alibaba.Size(a.OneOf("size", alibaba.Sizes...))}
			},
		},
		{
			Name: "philly", Text: "Microsoft's Philly clusters: jobs with GPUs and attempts",
			Params: []policy.Param{{Name: "run", Values: strings.Join(philly.Runs, "|"), Text: "the runtime of a job with several attempts (span)"}, zone},
			New: func(a *policy.Args) workload.Format {
				return philly.Format{Run: philly.Run(a.OneOf("run", philly.Runs...)), Zone: zoneOf(a)}
			},
		},
		{
			Name: "fdata", Text: "F-DATA: a month of Fugaku, in Parquet", Params: []policy.Param{unit, zone},
			New: func(a *policy.Args) workload.Format {
				return fdata.Format{Cores: a.OneOf("unit", "nodes", "cores") == 1, Zone: zoneOf(a)}
			},
		},
		{
			Name: "pm100", Text: "PM100: jobs of Marconi100 and their power, in Parquet", Params: []policy.Param{unit, zone},
			New: func(a *policy.Args) workload.Format {
				return pm100.Format{Cores: a.OneOf("unit", "nodes", "cores") == 1, Zone: zoneOf(a)}
			},
		},
	}
}

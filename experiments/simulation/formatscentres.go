package simulation

import (
	"strings"

	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
)

// This file has the formats of what computing centres have published of their jobs.

func centres() policy.Table[workload.Format] {
	zone := policy.Param{Name: "zone", Values: areaCity, Text: "of times without one, as in Asia/Tokyo (UTC)"}
	unit := policy.Param{Name: "unit", Values: "nodes|cores", Text: "what the processors of jobs are (nodes)"}
	return policy.Table[workload.Format]{
		{
			Name: "parquet", Text: "Apache Parquet with a column a field of SWF, for notebooks",
			New: func(*policy.Args) workload.Format { return formats.Parquet{} },
		},
		{
			Name: "google", Text: "Google's ClusterData 2011: events of jobs or tasks",
			Params: []policy.Param{
				{Name: "table", Values: strings.Join(formats.GoogleTables, "|"), Text: "which one it is (job_events)"},
				{Name: "size", Values: "N", Text: "processors of a job, of which job_events does not tell (1)"},
			},
			New: func(a *policy.Args) workload.Format {
				return formats.Google{Table: formats.GoogleTable(a.OneOf("table", formats.GoogleTables...)), Size: a.Positive("size")}
			},
		},
		{
			Name: "alibaba", Text: "Alibaba's traces of 2018 and, with GPUs, of 2020: tasks or instances",
			Params: []policy.Param{
				{Name: "table", Values: strings.Join(formats.AlibabaTables, "|"), Text: "which one it is (batch_task)"},
				{Name: "size", Values: strings.Join(formats.AlibabaSizes, "|"), Text: "what the processors of a task are (cores)"},
			},
			New: func(a *policy.Args) workload.Format {
				return formats.Alibaba{Table: formats.AlibabaTable(a.OneOf("table", formats.AlibabaTables...)), Size: formats.AlibabaSize(a.OneOf("size", formats.AlibabaSizes...))}
			},
		},
		{
			Name: "philly", Text: "Microsoft's Philly clusters: jobs with GPUs and attempts",
			Params: []policy.Param{{Name: "run", Values: strings.Join(formats.PhillyRuns, "|"), Text: "the runtime of a job with several attempts (span)"}, zone},
			New: func(a *policy.Args) workload.Format {
				return formats.Philly{Run: formats.PhillyRun(a.OneOf("run", formats.PhillyRuns...)), Zone: zoneOf(a)}
			},
		},
		{
			Name: "fdata", Text: "F-DATA: a month of Fugaku, in Parquet", Params: []policy.Param{unit, zone},
			New: func(a *policy.Args) workload.Format {
				return formats.FData{Cores: a.OneOf("unit", "nodes", "cores") == 1, Zone: zoneOf(a)}
			},
		},
		{
			Name: "pm100", Text: "PM100: jobs of Marconi100 and their power, in Parquet", Params: []policy.Param{unit, zone},
			New: func(a *policy.Args) workload.Format {
				return formats.PM100{Cores: a.OneOf("unit", "nodes", "cores") == 1, Zone: zoneOf(a)}
			},
		},
	}
}

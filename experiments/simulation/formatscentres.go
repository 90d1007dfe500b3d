package simulation

import (
	"time"

	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
)

// This file has the formats of what computing centres have published of their jobs.

// centres returns the formats of computing centres.
func centres() policy.Table[workload.Format] {
	zone := func(s *policy.Settings) *time.Location {
		return zoneOf(s, "of times without one, as in Asia/Tokyo (UTC)")
	}
	cores := func(s *policy.Settings) bool {
		return oneOf(s, "unit", "what the processors of jobs are (nodes)", "nodes", "cores") == 1
	}
	return policy.Table[workload.Format]{
		policy.Row("parquet", "Apache Parquet with a column a field of SWF, for notebooks", func(*policy.Settings) workload.Format { return formats.Parquet{} }),
		policy.Row("google", "Google's ClusterData 2011: events of jobs or tasks", func(s *policy.Settings) workload.Format {
			f := formats.Google{Table: formats.GoogleTable(oneOf(s, "table", "which one it is (job_events)", formats.GoogleTables...))}
			s.Count(&f.Size, "size", "processors of a job, of which job_events does not tell (1)")
			return f
		}),
		policy.Row("alibaba", "Alibaba's traces of 2018 and, with GPUs, of 2020: tasks or instances", func(s *policy.Settings) workload.Format {
			return formats.Alibaba{
				Table: formats.AlibabaTable(oneOf(s, "table", "which one it is (batch_task)", formats.AlibabaTables...)),
				Size:  formats.AlibabaSize(oneOf(s, "size", "what the processors of a task are (cores)", formats.AlibabaSizes...)),
			}
		}),
		policy.Row("philly", "Microsoft's Philly clusters: jobs with GPUs and attempts", func(s *policy.Settings) workload.Format {
			return formats.Philly{Run: formats.PhillyRun(oneOf(s, "run", "the runtime of a job with several attempts (span)", formats.PhillyRuns...)), Zone: zone(s)}
		}),
		policy.Row("fdata", "F-DATA: a month of Fugaku, in Parquet", func(s *policy.Settings) workload.Format {
			return formats.FData{Cores: cores(s), Zone: zone(s)}
		}),
		policy.Row("pm100", "PM100: jobs of Marconi100 and their power, in Parquet", func(s *policy.Settings) workload.Format {
			return formats.PM100{Cores: cores(s), Zone: zone(s)}
		}),
	}
}

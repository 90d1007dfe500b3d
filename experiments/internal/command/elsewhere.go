package command

import (
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/parquet"
)

// elsewhere is a format that this program reads, and that the full one writes.
type elsewhere struct{ workload.Format }

// ParquetIs has the name parquet stand for a format of logs; for nil it stands for one that
// is read here, and handed over to be written.
func ParquetIs(t *scenario.Tables, format workload.Format) {
	if format == nil {
		format = elsewhere{parquet.Format{}}
	}
	for i := range t.Formats {
		if t.Formats[i].Name == format.Name() {
			t.Formats[i].New = func(*policy.Args) workload.Format { return format }
		}
	}
}

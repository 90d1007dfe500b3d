// Package formats lists the formats in which logs are read and written beside SWF.
//
//	trace, err := workload.Options{Reading: workload.Reading{Formats: formats.All()}}.Open("slurm.csv")
package formats

import (
	"slices"
	"strings"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/batsim"
	"github.com/gridslot/gridslot/workload/formats/csv"
	"github.com/gridslot/gridslot/workload/formats/datasets"
	"github.com/gridslot/gridslot/workload/formats/gwf"
	"github.com/gridslot/gridslot/workload/formats/mwf"
	"github.com/gridslot/gridslot/workload/formats/parquet"
	"github.com/gridslot/gridslot/workload/formats/sacct"
)

// All are the formats, in the order in which an input is asked for its likeness.
func All() []workload.Format {
	return []workload.Format{
		csv.Format{}, sacct.Format{}, gwf.Format{}, mwf.Format{}, batsim.Format{},
		parquet.Format{}, datasets.FData{}, datasets.PM100{}, datasets.Philly{}, datasets.Google{}, datasets.Alibaba{},
	}
}

// ByEnding is the one among formats whose files end as path does, where .gz and .zst
// do not count; nil where there is none.
func ByEnding(path string, formats []workload.Format) workload.Format {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	i := slices.IndexFunc(formats, func(f workload.Format) bool {
		return slices.ContainsFunc(f.Endings(), func(ending string) bool { return strings.HasSuffix(path, ending) })
	})
	if i < 0 {
		return nil
	}
	return formats[i]
}

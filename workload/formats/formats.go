// Package formats lists the formats in which logs are read and written beside SWF.
//
//	trace, err := workload.Options{Reading: workload.Reading{Formats: formats.All()}}.Open("slurm.csv")
package formats

import (
	"slices"
	"strings"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats/batsim"
	"github.com/gridslot/gridslot/workload/formats/sacct"
)

// All are the formats, in the order in which an input is asked for its likeness.
func All() []workload.Format {
	return []workload.Format{
		CSV{}, sacct.Format{}, GWF{}, MWF{}, batsim.Format{},
		Parquet{}, FData{}, PM100{}, Philly{}, Google{}, Alibaba{},
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

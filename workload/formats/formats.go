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

// All are the formats beside SWF, in the order in which an input is asked for its likeness: the first
// whose Is is true reads it, and SWF if there is none. The order matters only if two claim one input.
func All() []workload.Format {
	return []workload.Format{
		CSV{}, sacct.Format{}, GWF{}, MWF{}, batsim.Format{},
		Parquet{}, FData{}, PM100{}, Philly{}, Google{}, Alibaba{},
	}
}

// ByEnding is the first of the formats whose files end as path does, or nil. Endings of packed files,
// .gz and .zst, do not count. It is for files that are to be written; what is read is told by its
// content.
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

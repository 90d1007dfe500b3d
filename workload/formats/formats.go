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

// All returns all formats except SWF, in the order in which they are compared with an input. The
// first format whose Is is true reads the input; if there is none, SWF does. The order matters only
// if two formats claim one input.
func All() []workload.Format {
	return []workload.Format{
		CSV{}, sacct.Format{}, GWF{}, MWF{}, batsim.Format{},
		Parquet{}, FData{}, PM100{}, Philly{}, Google{}, Alibaba{},
	}
}

// ByEnding returns the first format that has an ending of path among its Endings, or nil. It does
// not look at the endings .gz and .zst of packed files. Use it for files that are to be written;
// the format of a file that is read is known by its content.
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

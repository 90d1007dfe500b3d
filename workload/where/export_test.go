package where

import "github.com/gridslot/gridslot/workload"

// Fields are the names of what is known of the records of every log.
func Fields() []string {
	var names []string
	for _, f := range language(&workload.Header{}, 0).Fields {
		names = append(names, f.Name)
	}
	return names
}

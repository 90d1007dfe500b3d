package cli

import (
	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload/speedup"
)

// addMoldable defines the flag that gives rigid jobs shapes.
func (f *workloadFlags) addMoldable(cmd *cobra.Command) {
	parsedFlag(cmd, &f.moldable, "moldable", "", "linear|amdahl:serial=F|downey:A=F:sigma=F", "rigid jobs get shapes by a speed-up, of half to twice their processors; also from=F, to=F, shapes=N|all", scenario.ParseMoldable)
}

// failing is a source that can fail, as a reading of a file can.
type failing interface {
	entity.Source
	Err() error
}

// molding are the jobs with the shapes that the flag gives them.
func (f *workloadFlags) molding(jobs failing) failing { return &molded{jobs, f.moldable} }

type molded struct {
	failing
	by *speedup.Moldable
}

func (m *molded) Next() (*entity.Job, bool) {
	j, ok := m.failing.Next()
	if !ok {
		return nil, false
	}
	return scenario.Molded(j, m.by), true
}

package cli

import (
	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/scenario"
)

// addMoldable defines the flag that gives rigid jobs shapes.
func (f *workloadFlags) addMoldable(cmd *cobra.Command) {
	parsedFlag(cmd, &f.moldable, "moldable", "", "linear|amdahl:serial=F|downey:A=F:sigma=F", "rigid jobs get shapes by a speed-up, of half to twice their processors; also from=F, to=F, shapes=N|all", scenario.ParseMoldable)
}

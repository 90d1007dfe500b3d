package cli

import (
	"github.com/spf13/cobra"
)

// addPredictions defines the flags by which jobs are planned by predictions.
func (s *simulation) addPredictions(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("predict", "", "what jobs are planned by in place of their requests, as in recent:k=2 (default: request, or what the policy brings)")
	f.String("correct", "", "what becomes of a prediction that a job outlives, as in tsafrir (default: own, or what the policy brings)")
	complete(cmd, "predict", s.tables.Predictors.Names())
	complete(cmd, "correct", s.tables.Correctors.Names())
}

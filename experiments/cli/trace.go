package cli

import "github.com/spf13/cobra"

func newTrace() *cobra.Command {
	return group(&cobra.Command{Use: "trace", Short: "Look at logs"})
}

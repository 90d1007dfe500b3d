package cli

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/batsim"
)

// This file makes nodes of a domain of the hosts of a platform.

func newTracePlatform() *cobra.Command {
	reference := 0.0
	cmd := &cobra.Command{
		Use:   "platform PLATFORM",
		Short: "Write the hosts of a platform of SimGrid as nodes of a domain, as CSV",
		Long: `Write the hosts of a platform of SimGrid, as Batsim takes it, as nodes of a domain, as CSV.
A node's performance is the speed of the host, of one core, over that of the slowest, so a
log's runtimes are those of the slowest host; --reference SPEED names that of
performance 1. A node costs 1 a time unit: platforms know no prices.
The master and storage hosts are left out.`,
		Example: "  gridslot trace platform cluster.xml --reference 1Gf > nodes.csv",
		Args:    arguments(1, 1, "PLATFORM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			hosts, err := openPlatform(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return writeNodes(cmd.OutOrStdout(), hosts, reference)
		},
	}
	parsedFlag(cmd, &reference, "reference", "", "SPEED", "of performance 1, with a unit: 2.5Gf (default: the slowest host's)", optional(batsim.ParseSpeed))
	return cmd
}

func openPlatform(path string, stdin io.Reader) ([]batsim.Host, error) {
	if path == workload.StandardInput {
		return batsim.ReadPlatform(stdin, "standard input")
	}
	return batsim.OpenPlatform(path)
}

func writeNodes(w io.Writer, hosts []batsim.Host, reference float64) error {
	if reference == 0 {
		reference = hosts[0].Speed
		for _, h := range hosts {
			reference = min(reference, h.Speed)
		}
	}
	c := csv.NewWriter(w)
	rows := [][]string{{"id", "performance", "price", "name", "cores"}}
	for i, h := range hosts {
		rows = append(rows, []string{strconv.Itoa(i + 1), strconv.FormatFloat(h.Speed/reference, 'g', -1, 64), "1", h.Name, strconv.Itoa(h.Cores)})
	}
	return c.WriteAll(rows)
}

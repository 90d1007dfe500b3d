// Gridslot simulates the scheduling of parallel jobs; see its README.
package main

import (
	"os"

	"github.com/gridslot/gridslot/experiments/cli"
)

func main() { os.Exit(cli.Main(cli.Extend{})) }

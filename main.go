// Gridslot simulates the scheduling of parallel jobs; see its README.
package main

import (
	"os"

	"github.com/gridslot/gridslot/experiments/cli/light"
)

func main() { os.Exit(light.Main()) }

// Gridslot-full is the command gridslot with all its parts: what takes long to compile,
// and what gridslot hands over to it; see package light.
package main

import (
	"os"

	"github.com/gridslot/gridslot/experiments/cli"
)

func main() { os.Exit(cli.Main(cli.Extend{})) }

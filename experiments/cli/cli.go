package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/command"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/metrics/parquet"
)

// Version is the version of the program, as in docs/CHANGELOG.md.
const Version = command.Version

// Main runs the command with the process's own arguments and streams until it
// is done, interrupted or told to terminate, and returns the exit code. A
// second signal ends the process at once. A program of one's own is the command
// plus what it extends it by; the command itself is Main(Extend{}).
func Main(e Extend) int { return command.Main(e.parts()) }

// Env is what a call of the command reads and writes.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Extend         Extend
}

// Run runs one call of the command and returns its exit code. Any number of
// calls run side by side.
func Run(ctx context.Context, env Env) int {
	return command.Run(ctx, command.Env{
		Args: env.Args, Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Parts: env.Extend.parts(),
	})
}

// parts are all there are.
func (e Extend) parts() command.Parts {
	return command.Parts{
		Tables: e.tables,
		Commands: func(env command.Env, t *scenario.Tables) []*cobra.Command {
			return []*cobra.Command{newPlot(), newReport(env), newReproduce(env, e.Experiments)}
		},
		Fetch:         fetchLog,
		WriteParquet:  parquet.Write,
		ParquetBeside: parquet.Beside,
		DrawLog:       drawLog,
	}
}

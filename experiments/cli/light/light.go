// Package light is the command gridslot in a program that compiles in two fifths of the
// time: what needs figures or Parquet it hands over, with the whole command line, to
// gridslot-full, which stands for this process from then on.
//
//	gridslot plot results
//	   |
//	   |  beside this program?        of the same version      -> that one
//	   |  the source at hand, and go? built once, and kept     -> user's cache folder
//	   |  else                        an error with what to do
//	   v
//	gridslot-full plot results        the same process on unix, with its exit code, its
//	                                  signals, its standard input
//
// Programs of one's own are made with package cli, and have all parts.
package light

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/command"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// Main runs the command with the process's own arguments and streams until it
// is done, interrupted or told to terminate, and returns the exit code.
func Main() int {
	if completes(os.Args[1:]) {
		if full, err := find(); err == nil {
			_, _ = become(full) // whoever completes wants no messages
		}
	}
	return command.Main(command.Parts{
		Tables:   tables,
		HandOver: handOver,
	})
}

func tables() *scenario.Tables {
	t := scenario.NewTables(nil, nil, nil, nil, nil)
	command.ParquetIs(t, nil)
	return t
}

// completes reports whether a shell asks how a call goes on that is to be handed over.
func completes(args []string) bool {
	return len(args) > 1 && strings.HasPrefix(args[0], "__complete") &&
		slices.ContainsFunc(command.HandedOver, func(h command.Heading) bool { return h.Name() == args[1] })
}

// handOver carries out this process's call in gridslot-full.
func handOver(ctx context.Context, env command.Env, what string) int {
	fail := func(err error) int {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintf(env.Stderr, "gridslot: %s\n", err)
		return command.Failed
	}
	full, err := find()
	if missing := (*notBuiltError)(nil); errors.As(err, &missing) {
		full, err = missing.build(ctx, func() {
			fmt.Fprintf(env.Stderr, "gridslot: %s needs %s, which is built now, once: that takes a minute or two\n", what, name)
		})
	}
	if err != nil {
		return fail(fmt.Errorf("%s needs %s: %w", what, name, err))
	}
	code, err := become(full)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", full, err))
	}
	return code
}

// environ is that of this process, with what it is, so that runs of studies are the same
// program's, whoever does them.
func environ() []string {
	return append(os.Environ(), sweep.StandsFor+"="+sweep.Executable())
}

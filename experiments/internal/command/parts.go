package command

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/metrics/schema"
	"github.com/gridslot/gridslot/workload/facts"
)

// Parts are what of the command takes long to compile: figures and what draws them, Parquet.
// There are two kinds of programs.
//
//	full    has them all                     package cli, programs of one's own
//	light   has none, and hands over to      package cli/light, main.go
//	        the full one what needs them
//
// The light one compiles in two fifths of the time, and does all that most calls want.
type Parts struct {
	// Tables are the names of policies and the like; they are made once a call.
	Tables func() *scenario.Tables

	// Commands are those of HandedOver.
	Commands func(Env, *scenario.Tables) []*cobra.Command
	// WriteParquet writes a CSV file of that kind as Parquet, ParquetBeside one of a folder
	// beside it.
	WriteParquet  func(w io.Writer, csv io.Reader, f *schema.File) error
	ParquetBeside func(dir, name string) error
	// DrawLog draws figures of what is in a log into a folder, as SVG, and returns their paths.
	DrawLog func(dir string, f *facts.Facts) ([]string, error)

	// Fetch is the work of trace fetch.
	Fetch func(cmd *cobra.Command, name string, f Fetch) error

	// HandOver carries out a call in a program that has all parts, where this one has
	// none, and returns its exit code. It may replace this process. What is wanted of it,
	// as in "gridslot plot", is for messages.
	HandOver func(ctx context.Context, env Env, what string) int
}

// Heading is what lists of commands show of one.
type Heading struct{ Use, Short string }

// The commands that are Parts.Commands.
var (
	Plot      = Heading{"plot DIR [FIGURE...]", "Draw figures of results"}
	Report    = Heading{"report DIR", "Write a page of what simulate has left in a folder, with a Gantt chart"}
	Reproduce = Heading{"reproduce [NAME...|all]", "Repeat published experiments and compare the figures"}
)

// HandedOver are all of them.
var HandedOver = []Heading{Plot, Report, Reproduce}

// Name is the command's.
func (h Heading) Name() string {
	name, _, _ := strings.Cut(h.Use, " ")
	return name
}

// errHandOver is that a part is wanted which this program has not got.
type errHandOver struct{ what string }

func (e *errHandOver) Error() string { return e.what + " is not part of this program" }

// wantParquet is an error where this program cannot write Parquet.
func (p Parts) wantParquet() error {
	if p.WriteParquet == nil {
		return &errHandOver{"--parquet"}
	}
	return nil
}

// addHandedOver adds commands in name only, and returns what tells, with the error of a
// call, what it is to be handed over for.
func addHandedOver(root *cobra.Command) func(error) string {
	var helped string
	for _, h := range HandedOver {
		cmd := &cobra.Command{Use: h.Use, Short: h.Short, DisableFlagParsing: true}
		cmd.RunE = func(*cobra.Command, []string) error { return &errHandOver{cmd.CommandPath()} }
		cmd.SetHelpFunc(func(*cobra.Command, []string) { helped = cmd.CommandPath() })
		root.AddCommand(cmd)
	}
	return func(err error) string {
		if e := (*errHandOver)(nil); errors.As(err, &e) {
			return e.what
		}
		return helped
	}
}

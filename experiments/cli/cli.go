package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/internal/interrupt"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/internal/enum"
)

// Version is the version of the program, as in docs/CHANGELOG.md.
const Version = "0.1.0"

// Exit codes. A call that makes no sense has exitUsage, and has done nothing.
const (
	exitOK     = 0
	exitFailed = 1 // the work, or it was interrupted
	exitUsage  = 2
)

// Main runs the command with the process's own arguments and streams until it is done, interrupted
// or told to terminate, and returns the exit code. A second signal ends the process at once. A
// program of one's own is the command plus what extends it; the command itself is Main(Extend{}).
func Main(e Extend) int {
	// The garbage collector: rarely as long as the heap is small, often when memory runs short.
	// Settings of the user count.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if all := hostmem.Memory(); all > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(all / 10 * 9)
	}
	// The first signal ends the context; stop then gives signals their usual effect again.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Run(ctx, Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Extend: e})
}

// gcPercent lets the heap grow to five times what is live before it is collected: a run's live heap
// is a few megabytes, and jobs die young. If the heap is large, the limit of Main has it collected
// before memory is full.
const gcPercent = 400

// Env has the arguments, inputs and outputs of a call of the command, so that tests and programs
// can call it any number of times in one process.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Extend         Extend
}

// Run runs one call of the command and returns its exit code. Any number of calls may run side by
// side.
func Run(ctx context.Context, env Env) int {
	if env.Stdin != nil {
		env.Stdin = interrupt.Reader(ctx, env.Stdin)
	}
	root := newRoot(env)
	// An error that comes before any command has begun is cobra's own: arguments or flags are
	// wrong.
	begun := false
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(env.Stderr, "gridslot: %s\n", harmless(err.Error()))
	var usage *usageError
	if !begun || errors.As(err, &usage) { // the errors of cobra itself come before a command begins
		fmt.Fprintf(env.Stderr, "Try '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
	return exitFailed
}

// usageError reports a call that makes no sense, whatever the files hold: its exit code is
// exitUsage.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// usagef returns a usageError with a formatted text.
func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// newRoot returns the whole command.
func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "gridslot COMMAND",
		Short: "Simulate the scheduling of parallel jobs",
		Long: `Gridslot simulates the scheduling of parallel jobs on space-shared clusters,
from logs in the Standard Workload Format or from models of the literature.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.PersistentFlags().BoolP("help", "h", false, "help about the command") // of all: they need none of their own
	root.CompletionOptions.DisableNoDescFlag = true
	root.SetVersionTemplate("gridslot {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	tables := env.Extend.tables()
	tables.Tell = onceTeller(env.Stderr)
	root.SetHelpCommand(newHelp(tables))
	root.AddCommand(
		newSimulate(env, tables),
		newTrace(env, tables),
		newBound(tables),
		newWindow(env),
		newSweep(env, tables),
		newValidate(tables),
		newExplain(),
		newPlot(),
		newReport(env),
		newReproduce(env),
	)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		group(completion) // cobra's own answers any word with its help, as if all were well
	}
	checkArguments(root)
	if len(env.Args) > 0 && (env.Args[0] == cobra.ShellCompRequestCmd || env.Args[0] == cobra.ShellCompNoDescRequestCmd) {
		completions(root)
	}
	return root
}

// checkArguments makes a command and those below it check their arguments by their usage, unless
// they check them otherwise.
func checkArguments(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = byUsage
	}
	for _, c := range cmd.Commands() {
		checkArguments(c)
	}
}

// knownCommand refuses what stands behind a command that only holds others: it is the name of none
// of them, or cobra would have called that one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	return usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), enum.Suggestion(args[0], known))
}

// group returns a command that only holds others: by itself it is wrong usage, of which its help
// tells more.
func group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(subcommands...)
	cmd.Args = knownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// Help that nobody has asked for is no output of the command.
		cmd.SetOut(cmd.ErrOrStderr())
		if err := cmd.Help(); err != nil {
			return err
		}
		return usagef("%q needs one of its commands", cmd.CommandPath())
	}
	return cmd
}

// build returns the identity of the program. Studies use it to tell the results of this program
// from the results of another.
func build() string { return sweep.Build(version()) }

// version returns the release, the commit if the build knows it, and how the program was built.
func version() string {
	v := Version
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				v += " " + s.Value[:12]
			}
		}
	}
	return v + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

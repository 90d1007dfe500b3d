package cli

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
)

// conversion is what `gridslot trace convert` does.
type conversion struct {
	tables   *scenario.Tables
	to       string // format
	lossless bool
	cleaning cleaning

	// through, if set, is what records go through on their way; made, if set, makes
	// another log of the trace, in place of its records.
	through func(*workload.Trace, iter.Seq2[*workload.Record, error]) iter.Seq2[*workload.Record, error]
	made    func(*workload.Trace) (*workload.Header, iter.Seq[*workload.Record], error)
}

// addTarget defines the flags of the format to write.
func (c *conversion) addTarget(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.to, "to", "", "format to write (default: by the ending of OUT, or swf)")
	complete(cmd, "to", c.tables.Formats.Names())
	cmd.Flags().BoolVar(&c.lossless, "lossless", false, "it is an error where the format cannot hold something, and OUT is not written")
}

// records are the header and the records to write.
func (c *conversion) records(t *workload.Trace) (*workload.Header, iter.Seq2[*workload.Record, error], error) {
	switch {
	case c.made != nil:
		h, records, err := c.made(t)
		return h, func(yield func(*workload.Record, error) bool) {
			for rec := range records {
				if !yield(rec, nil) {
					return
				}
			}
		}, err
	case c.through != nil:
		return t.Header.Clone(), c.through(t, t.Selected()), nil
	}
	return c.cleaning.records(t)
}

// newTraceConvert works on records, not on jobs: it keeps records of which no job
// can be made.
func newTraceConvert(t *scenario.Tables) *cobra.Command {
	c := conversion{tables: t}
	cmd := &cobra.Command{
		Use:   "convert TRACE OUT",
		Short: "Bring a log into another format; pack, unpack, sort, clean, cut, scale or move it",
		Long: `Bring a log into another format, and pack, unpack, sort, clean, cut, scale or move it, in
this order: where, sort, after and before, whole-weeks, flurries, skip, first, load,
shift, anonymise, drop-lines. What was left out is told on standard error. OUT is of the format that --to names, or
that its ending tells, and else SWF; it is packed where it ends in .gz or .zst; - is
standard output. What the format cannot hold is told on standard error, and with
--lossless is an error; between logs of one format nothing is lost. A note in the
header says what was done. The load is that of the records chosen that have a runtime
and a size. Formats:
` + describe(t.Formats),
		Example: `  gridslot trace convert log.swf log.swf.zst --sort
  gridslot trace convert log.swf.gz busy.swf --first 5000 --load 0.9 --shift
  gridslot trace convert log.swf clean.swf --where 'not (user == 374 and id < 5000)' --flurries`,
		Args: arguments(2, 2, "TRACE OUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0], args[1]) },
	}
	c.addTarget(cmd)
	addSettings(cmd, t, scenario.OfRecords)
	c.cleaning.add(cmd)
	return cmd
}

func (c *conversion) run(cmd *cobra.Command, from, to string) error {
	if sameFile(from, to) {
		return usagef("%s would overwrite itself: choose another name", from)
	}
	format, err := writable(cmd, c.tables, to, c.to)
	if err != nil {
		return err
	}
	trace, err := openLog(cmd, c.tables, from, nil)
	if err != nil {
		return err
	}
	if trace.Options.Load > 0 {
		if _, err := scenario.Processors(trace); err != nil {
			return err
		}
	}
	h, records, err := c.records(trace)
	if err != nil {
		return err
	}
	if procs := trace.Options.Procs; procs > 0 && h.MaxProcs <= 0 && h.MaxNodes <= 0 {
		h.Set("MaxProcs", strconv.Itoa(procs))
	}
	h.Add("Note", note(cmd))
	out, err := createLog(cmd, to, format, h)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := out.writeAll(records); err != nil {
		return err
	}
	if lost := lost(trace, format, out.Lost().All()); lost != "" {
		if c.lossless {
			return fmt.Errorf("%s\nand --lossless was asked for", lost)
		}
		fmt.Fprintln(shown{cmd.ErrOrStderr()}, lost)
	}
	fmt.Fprint(shown{cmd.ErrOrStderr()}, c.cleaning.account(trace))
	return out.Commit()
}

// writable is the format in which the log OUT is to be written, by --to or by the ending of its path.
func writable(cmd *cobra.Command, t *scenario.Tables, path, to string) (workload.Writable, error) {
	into, err := t.FormatTo(path, to)
	if err != nil {
		return nil, worded(cmd, err)
	}
	format, ok := into.(workload.Writable)
	if !ok {
		return nil, usagef("logs in the format %s can be read, but not written", into.Name())
	}
	return format, nil
}

// dropped are findings of a reader that tell of something left behind.
var dropped = []workload.Reason{workload.ExtraFields, workload.MemoryFractionDropped, workload.CommentNotKept, workload.JobStep, workload.ValueUnreadable}

// lost tells what of a log a format does not hold, and what its reader left behind, or
// is "".
func lost(from *workload.Trace, to workload.Format, losses []workload.Loss) string {
	var b strings.Builder
	for why, n := range from.Report().Counts() {
		if why.Class() == workload.Damaged || slices.Contains(dropped, why) {
			fmt.Fprintf(&b, "\n  %d lines: %s", n, why.Text())
		}
	}
	for _, l := range losses {
		fmt.Fprintf(&b, "\n  %v", l)
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%s: from %s to %s is lost:%s", from.Name, from.Format.Name(), to.Name(), b.String())
}

// note says in the header what was done, as a shell reads it. Where a key is kept is nobody's
// business.
func note(cmd *cobra.Command) string {
	words := []string{"gridslot", Version, "trace", cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch list, ok := f.Value.(pflag.SliceValue); {
		case f.Name == "out":
			return
		case f.Name == "key" && value != randomKey:
			value = "KEYFILE"
		case ok:
			value = strings.Join(list.GetSlice(), ",")
		}
		words = append(words, "--"+f.Name+"="+quoted(value))
	})
	return strings.Join(words, " ")
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// sameFile reports whether both paths lead to one regular file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
}

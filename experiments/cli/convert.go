package cli

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
)

// conversion is one call of `gridslot trace convert`. It works on records, not
// on jobs: what no job could be made of is kept.
type conversion struct {
	options workload.Options
	trace   *workload.Trace
	err     error // what ended the latest reading
}

func newTraceConvert() *cobra.Command {
	var c conversion
	cmd := &cobra.Command{
		Use:   "convert TRACE OUT",
		Short: "Pack, unpack, sort, cut, scale or move a log",
		Long: `Pack, unpack, sort, cut, scale or move a log, in this order: sort, skip, first,
load, shift. Records keep all their fields, and the header its lines; a note
says what was done. OUT is packed where it ends in .gz or .zst; - is standard
output. The load is that of the records chosen that have a runtime and a size.`,
		Example: `  gridslot trace convert log.swf log.swf.zst --sort
  gridslot trace convert log.swf.gz busy.swf --first 5000 --load 0.9 --shift`,
		Args: arguments(2, 2, "TRACE OUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.IntVar(&c.options.Procs, "procs", 0, "processors of the machine, for --load (default: the header's)")
	f.BoolVar(&c.options.Sort, "sort", false, "order by submission, equal ones as they come")
	addSelection(f, &c.options)
	f.BoolVar(&c.options.Strict, "strict", false, "any damaged line is an error; otherwise it is left out")
	return cmd
}

func (c *conversion) run(cmd *cobra.Command, from, to string) (err error) {
	if err := checkSelection(cmd, &c.options); err != nil {
		return err
	}
	if sameFile(from, to) {
		return usagef("%s would overwrite itself: choose another name", from)
	}
	o := workload.Options{Procs: c.options.Procs, Strict: c.options.Strict, Stdin: cmd.InOrStdin()}
	if c.trace, err = o.Open(from); err != nil {
		return err
	}
	records := c.selected()
	if c.options.Load > 0 {
		factor, err := c.factor()
		if err != nil {
			return err
		}
		records = workload.ScaleArrivals(records, factor)
	}
	if c.options.Shift {
		records = workload.ShiftToZero(records)
	}
	h := c.trace.Header.Clone()
	h.Add("Note", note(cmd))
	out, err := createSWF(cmd, to, h)
	if err != nil {
		return err
	}
	defer out.Abort()
	for rec := range records {
		if err := out.Write(rec); err != nil {
			return err
		}
	}
	if c.err != nil {
		return c.err
	}
	return out.Commit()
}

// note says in the header what was done.
func note(cmd *cobra.Command) string {
	words := []string{"gridslot " + Version + " trace convert"}
	cmd.Flags().Visit(func(f *pflag.Flag) { words = append(words, "--"+f.Name+"="+f.Value.String()) })
	return strings.Join(words, " ")
}

// sameFile reports whether both paths lead to one regular file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
}

// selected yields the records chosen, in order.
func (c *conversion) selected() iter.Seq[*workload.Record] {
	records := c.records()
	if c.options.Sort {
		records = workload.SortBySubmission(records)
	}
	records = workload.Skip(records, c.options.Skip)
	if c.options.First > 0 {
		records = workload.First(records, c.options.First)
	}
	return records
}

func (c *conversion) records() iter.Seq[*workload.Record] {
	return func(yield func(*workload.Record) bool) {
		var r *workload.Reader
		var closer io.Closer
		if r, closer, c.err = c.trace.Records(); c.err != nil {
			return
		}
		defer closer.Close()
		r.Records()(yield)
		c.err = r.Err()
	}
}

// factor is what times between submissions are multiplied by to offer the load
// asked for.
func (c *conversion) factor() (float64, error) {
	procs, err := scenario.Processors(c.trace)
	if err != nil {
		return 0, err
	}
	var work, first, last float64
	begun := false
	for rec := range c.selected() {
		at := rec.Submit.Seconds()
		if !begun {
			begun, first = true, at
		}
		last = at
		size := rec.Requested
		if size <= 0 {
			size = rec.Allocated
		}
		if size > 0 && size <= int64(procs) && rec.Runtime > 0 {
			work += float64(float64(size) * rec.Runtime.Seconds())
		}
	}
	if c.err != nil {
		return 0, c.err
	}
	if work == 0 || last <= first {
		return 0, fmt.Errorf("%s: the records chosen offer no load over time that could be scaled to %v", c.trace.Name, c.options.Load)
	}
	return work / (float64(procs) * (last - first)) / c.options.Load, nil
}

package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
)

// newTraceConvert works on records, not on jobs: it keeps records of which no job
// can be made.
func newTraceConvert() *cobra.Command {
	var o workload.Options
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
		RunE: func(cmd *cobra.Command, args []string) error { return convert(cmd, o, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.IntVar(&o.Procs, "procs", 0, "processors of the machine, for --load (default: the header's)")
	f.BoolVar(&o.Sort, "sort", false, "order by submission, equal ones as they come")
	addSelection(f, &o)
	f.BoolVar(&o.Strict, "strict", false, "any damaged line is an error; otherwise it is left out")
	return cmd
}

func convert(cmd *cobra.Command, o workload.Options, from, to string) error {
	if err := checkSelection(cmd, &o); err != nil {
		return err
	}
	if sameFile(from, to) {
		return usagef("%s would overwrite itself: choose another name", from)
	}
	o.Stdin = cmd.InOrStdin()
	trace, err := o.Open(from)
	if err != nil {
		return err
	}
	if o.Load > 0 {
		if _, err := scenario.Processors(trace); err != nil {
			return err
		}
	}
	h := trace.Header.Clone()
	h.Add("Note", note(cmd))
	out, err := createSWF(cmd, to, h)
	if err != nil {
		return err
	}
	defer out.Abort()
	for rec, err := range trace.Selected() {
		if err != nil {
			return err
		}
		if err := out.Write(rec); err != nil {
			return err
		}
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

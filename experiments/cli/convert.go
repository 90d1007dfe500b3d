package cli

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/clean"
)

// conversion is one call of `gridslot trace convert`.
type conversion struct {
	tables   *simulation.Tables
	to       string // format
	lossless bool
	// by says into which parts the log is split; "" if it is not. OUT is a folder of parts then.
	by       string
	merge    clean.Merge
	cleaning cleaning
}

// newTraceConvert is `gridslot trace convert`. It works on records, not on jobs: it keeps records
// of which no job can be made.
func newTraceConvert(t *simulation.Tables) *cobra.Command {
	c := conversion{tables: t}
	cmd := &cobra.Command{
		Use:   "convert LOG|SOURCE... OUT",
		Short: "Write a log: of another one, in any format, sorted, cleaned, cut, scaled; of a model; of several",
		Long: `Write the log OUT from another log, or from a source with its parameters (help sources). Its format is
what --to names, else what the ending of OUT says, else SWF; .gz or .zst behind the ending packs it; - is standard
output. Flags act in this order: where, sort, after and before, whole-weeks, flurries, skip, first, load,
shift, estimates, anonymise, drop-lines. The command tells what it leaves out, and what the format cannot hold.
Several logs are merged in the order of submission; with --by OUT is a folder of parts.
vo:... makes a job file, platform:from=FILE.xml nodes of a domain (help made).`,
		Example: `  gridslot trace convert log.swf.gz busy.swf --first 5000 --load 0.9 --shift
  gridslot trace convert lublin:jobs=1000:load=0.8 out.swf --estimates tsafrir --seed 3
  gridslot trace convert resample:from=log.swf.gz:weeks=52 year.swf.gz
  gridslot trace convert vo:cycles=10:criteria=min-start,square-dep jobs.csv
  gridslot trace convert log.swf.gz users --by user`,
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			return c.run(cmd, args[:last], args[last])
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.to, "to", "", "format to write, see help formats (by the ending of OUT, else swf)")
	complete(cmd, "to", c.tables.Formats.Names())
	f.BoolVar(&c.lossless, "lossless", false, "it is an error where the format cannot hold something, and OUT is not written")
	addSettings(cmd, t, simulation.OfRecords|simulation.OfEstimates)
	c.cleaning.add(cmd)
	f.StringVar(&c.by, "by", "", "parts by user, group, executable, queue, partition or week, or a number of parts")
	complete(cmd, "by", []string{"user", "group", "executable", "queue", "partition", "week"})
	parsedFlag(cmd, &c.merge.Apart, "apart", "", "FIELD,FIELD", "of several logs: fields (or all) whose equal numbers in two logs are two users, groups, ...", optional(clean.ParseFields))
	f.Lookup("apart").NoOptDefVal = "all"
	f.BoolVar(&c.merge.AsTheyStand, "as-they-stand", false, "of several logs: keep submissions unchanged, whenever the logs start")
	return cmd
}

// run writes OUT of one log or source, or of several.
func (c *conversion) run(cmd *cobra.Command, from []string, to string) error {
	// A log must not overwrite itself or the log of which a source is made. A name may also ask for
	// what is no log.
	table := makers(c.tables)
	for _, path := range from {
		for _, file := range append(c.tables.FilesOf("trace", path), path) {
			if atomicfile.Same(file, to) {
				return usagef("%s would overwrite itself: choose another name", file)
			}
		}
		if name, _, _ := strings.Cut(path, ":"); slices.Contains(table.Names(), name) {
			if len(from) > 1 {
				return usagef("%s is no log: it cannot be merged with others", path)
			}
			return c.make(cmd, table, path, to)
		}
	}
	if err := c.checkFlags(cmd, len(from)); err != nil {
		return err
	}
	path := to
	if c.by != "" {
		path = "" // the endings of parts are those of --to
	}
	// The format is settled before any log is opened.
	format, err := writable(cmd, c.tables, path, c.to)
	if err != nil {
		return err
	}
	var logs []*workload.Trace
	for _, path := range from {
		trace, err := openLog(cmd, c.tables, path, nil)
		if err != nil {
			return err
		}
		logs = append(logs, trace)
	}
	switch {
	case c.by != "":
		return split(cmd, logs[0], c.by, format, to)
	case len(logs) > 1:
		return c.merged(cmd, logs, to, format)
	}
	return c.convert(cmd, logs[0], from[0], to, format)
}

// checkFlags refuses flags that mean nothing with this number of logs. Splitting and merging are
// about whole records: they take no flags that change them.
func (c *conversion) checkFlags(cmd *cobra.Command, logs int) error {
	switch {
	case c.by != "" && logs > 1:
		return usagef("--by: split one log at a time, or merge them first")
	case c.by != "":
		return only(cmd, "--by", "by", "to", "from", "procs", "where", "skip", "first", "load", "shift", "sort", "strict", "seed")
	case logs > 1:
		return only(cmd, "several logs", "apart", "as-they-stand", "lossless", "to", "from", "where", "sort", "strict", "seed")
	case cmd.Flags().Changed("apart") || c.merge.AsTheyStand:
		return usagef("--apart and --as-they-stand are for several logs")
	}
	return nil
}

// make writes what is no log: a job file, or nodes.
func (c *conversion) make(cmd *cobra.Command, table policy.Table[made], spec, to string) error {
	chosen, err := table.Parse(spec)
	if err != nil {
		return &usageError{err}
	}
	if err := only(cmd, spec, "seed"); err != nil {
		return err
	}
	return chosen.Value(cmd, to)
}

// only refuses all flags but those of these names.
func only(cmd *cobra.Command, with string, names ...string) error {
	if flag := firstGiven(cmd, names...); flag != "" {
		return usagef("--%s means nothing with %s: convert what comes of it in a second call", flag, with)
	}
	return nil
}

// convert writes the records of one log, or of what a source has made.
func (c *conversion) convert(cmd *cobra.Command, trace *workload.Trace, from, to string, format workload.Writable) error {
	// A load needs the size of the machine: without it the error comes before anything is written.
	if trace.Options.Load > 0 {
		if _, err := simulation.Processors(trace); err != nil {
			return err
		}
	}
	// The header says what was done; the size of the machine goes there if it is known from a flag
	// alone.
	h, records, err := c.cleaning.records(trace)
	if err != nil {
		return err
	}
	if procs := trace.Options.Procs; procs > 0 && h.MaxProcs <= 0 && h.MaxNodes <= 0 {
		h.Set("MaxProcs", strconv.Itoa(procs))
	}
	source := ""
	if text, isSource := c.tables.SourceText(from); isSource {
		source = from
		describeSource(h, text)
	}
	h.Add("Note", note(cmd, source))
	if err := c.write(cmd, []*workload.Trace{trace}, h, trace.Estimated(records), to, format); err != nil {
		return err
	}
	fmt.Fprint(shown{cmd.ErrOrStderr()}, c.cleaning.account(trace))
	if cut := trace.Report().Count(workload.RuntimeCut); cut > 0 {
		teller(cmd.ErrOrStderr())("the runtimes of %d jobs were above the longest estimate, and are cut to it: they offer less load", cut)
	}
	return nil
}

// merged writes the records of several logs as one, in the order of submission.
func (c *conversion) merged(cmd *cobra.Command, logs []*workload.Trace, to string, format workload.Writable) error {
	h, records, err := c.merge.Logs(logs)
	if err != nil {
		return err
	}
	h.Add("Note", note(cmd, ""))
	return c.write(cmd, logs, h, records, to, format)
}

// write writes OUT, of records of these logs, whole or not at all, and tells what is lost of them.
func (c *conversion) write(cmd *cobra.Command, logs []*workload.Trace, h *workload.Header, records iter.Seq2[*workload.Record, error], to string, format workload.Writable) error {
	out, err := createLog(cmd, to, format, h)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := out.writeAll(records); err != nil {
		return err
	}
	if lost := lost(logs, format, out.Lost().All()); lost != "" {
		if c.lossless {
			return fmt.Errorf("%s\nand --lossless was asked for", lost)
		}
		fmt.Fprintln(shown{cmd.ErrOrStderr()}, lost)
	}
	return out.Commit()
}

// describeSource says in the header of a log that no machine wrote it, unless the source has said
// what it is.
func describeSource(h *workload.Header, text string) {
	if h.Get("Computer") != "" {
		return
	}
	source, _, _ := strings.Cut(text, ": ") // then comes what it needs
	for _, e := range []workload.Entry{
		{Key: "Version", Value: "2.2"},
		{Key: "Computer", Value: "none: generated by gridslot " + Version},
		{Key: "Information", Value: source},
		{Key: "MaxNodes", Value: h.Get("MaxProcs")},
	} {
		h.Add(e.Key, e.Value)
	}
}

// writable returns the format in which the log OUT is to be written, by --to or by the ending of
// its path.
func writable(cmd *cobra.Command, t *simulation.Tables, path, to string) (workload.Writable, error) {
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

// dropped are findings of a reader that tell of something that no record holds.
var dropped = []workload.Reason{workload.ExtraFields, workload.MemoryFractionDropped, workload.CommentNotKept, workload.JobStep, workload.ValueUnreadable}

// lost says what of logs a format does not hold, and what their readers left behind; "" if that is
// nothing.
func lost(logs []*workload.Trace, to workload.Format, losses []workload.Loss) string {
	var b strings.Builder
	var of, from []string
	for _, t := range logs {
		of, from = append(of, t.Name), append(from, t.Format.Name())
		which := ""
		if len(logs) > 1 {
			which = " of " + t.Name
		}
		for why, n := range t.Report().Counts() {
			if why.Class() == workload.Damaged || slices.Contains(dropped, why) {
				fmt.Fprintf(&b, "\n  %d lines%s: %s", n, which, why.Text())
			}
		}
	}
	for _, l := range losses {
		fmt.Fprintf(&b, "\n  %v", l)
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%s: from %s to %s is lost:%s", strings.Join(of, ", "), strings.Join(slices.Compact(from), ", "), to.Name(), b.String())
}

// note says in the header what was done, as a shell reads it, with the source of the log if it has
// one. It does not tell where a key is kept.
func note(cmd *cobra.Command, source string) string {
	words := []string{"gridslot", Version, "trace", cmd.Name()}
	if source != "" {
		words = append(words, quoted(source))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch list, ok := f.Value.(pflag.SliceValue); {
		case f.Name == "key" && value != randomKey:
			value = "KEYFILE"
		case ok:
			value = strings.Join(list.GetSlice(), ",")
		}
		words = append(words, "--"+f.Name+"="+quoted(value))
	})
	return strings.Join(words, " ")
}

// quoted returns a word as a shell reads it.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

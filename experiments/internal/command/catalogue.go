package command

// The archive's logs: trace list and trace fetch.

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/machine"
	"github.com/gridslot/gridslot/traces"
)

// listed is a log as `gridslot trace list` tells of it.
type listed struct {
	traces.Log
	Citations []string
	Cached    string // path in the cache; "" where it has not been fetched
}

func newTraceList() *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use:   "list [PATTERN]",
		Short: "List the known logs of the " + traces.Archive,
		Long: `List the known logs of the ` + traces.Archive + `, and which of them have
been fetched. PATTERN, in any case, is a part of a name, machine or site, or with * and ?
a whole name. Of a single log all is told: who is to be thanked, and what to be cited.`,
		Example: `  gridslot trace list
  gridslot trace list sdsc
  gridslot trace list KTH-SP2-1996-2.1-cln --format json`,
		Args:              Arguments(0, 1, "[PATTERN]"),
		ValidArgsFunction: completeLogs,
		RunE: func(cmd *cobra.Command, args []string) error {
			logs, err := list(slices.Concat(args, []string{""})[0])
			if err != nil {
				return err
			}
			switch {
			case format == "json":
				return writeJSON(cmd.OutOrStdout(), logs)
			case len(args) > 0 && len(logs) == 1:
				return logs[0].write(shown{cmd.OutOrStdout()})
			}
			return writeLogs(shown{cmd.OutOrStdout()}, logs)
		},
	}
	ParsedFlag(cmd, &format, "format", "table", "table|json", "of the list", OneOf("table|json"))
	return cmd
}

// completeLogs completes names of the catalogue.
func completeLogs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, l := range traces.Catalogue() {
		names = append(names, l.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// list are the logs that a pattern is about.
func list(pattern string) (logs []listed, err error) {
	folder, _ := traces.Cache() // where there is none, none is in it
	wanted := strings.ToLower(traces.Stem(pattern))
	if _, err := path.Match(wanted, ""); err != nil {
		return nil, Usagef("%q is no pattern: %w", pattern, err)
	}
	for _, l := range traces.Catalogue() {
		about := strings.ToLower(strings.Join([]string{l.Name, l.Machine, l.Site}, "\n"))
		whole, _ := path.Match(wanted, strings.ToLower(l.Name)) // the pattern is sound
		if !whole && !strings.Contains(about, wanted) {
			continue
		}
		one := listed{Log: l, Citations: l.Citations()}
		if folder != "" {
			one.Cached = traces.Cached(folder, l.Name)
		}
		logs = append(logs, one)
	}
	if len(logs) == 0 {
		return nil, fmt.Errorf("no log of the catalogue is about %q: 'gridslot trace list' shows all", pattern)
	}
	return logs, nil
}

// known is a number as it is told: "-" where it is 0, which means unknown.
func known(x float64, digits int) string {
	if x == 0 {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// years are those of the log.
func (l *listed) years() string {
	switch {
	case l.From == 0:
		return "-"
	case l.From == l.To:
		return strconv.Itoa(l.From)
	}
	return fmt.Sprintf("%d-%d", l.From, l.To)
}

func writeLogs(w io.Writer, logs []listed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "log\tjobs\tprocessors\tdays\tload\truntime/estimate\tnote\tyears\tfetched")
	for _, l := range logs {
		fetched := "no"
		if l.Cached != "" {
			fetched = "yes"
		}
		fmt.Fprintln(t, strings.Join([]string{
			l.Name, known(float64(l.Jobs), 0), known(float64(l.Processors), 0), known(l.Days, 1), known(l.Load, 3), known(l.Accuracy, 3), l.Note, l.years(), fetched,
		}, "\t"))
	}
	return t.Flush()
}

// write tells all of one log.
func (l *listed) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"log", l.Name}, {"machine", l.Machine}, {"site", l.Site}, {"processors", known(float64(l.Processors), 0)},
		{"jobs", known(float64(l.Jobs), 0)}, {"counted by", l.Counted}, {"years", l.years()}, {"days", known(l.Days, 1)},
		{"offered load", known(l.Load, 3)}, {"runtime/estimate", known(l.Accuracy, 3)}, {"missing", l.Missing}, {"note", l.Note},
		{"page", l.Page}, {"file", l.URL}, {"sha256", l.SHA256}, {"thank", l.Acknowledge}, {"cite", strings.Join(l.Citations, "\n\t")},
		{"fetched", cmp.Or(l.Cached, "no: gridslot trace fetch "+l.Name)},
	} {
		if row[1] != "" && row[1] != "-" {
			fmt.Fprintf(t, "%s\t%s\n", row[0], row[1])
		}
	}
	return t.Flush()
}

// Fetch are the flags of trace fetch.
type Fetch struct {
	URL, Dir, SHA256 string
	MaxSize          int64
	Force            bool
}

func newTraceFetch(env Env) *cobra.Command {
	var f Fetch
	cmd := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Fetch a log of the " + traces.Archive,
		Long: `Fetch a log of the ` + traces.Archive + `, by its name in 'gridslot trace list',
or with --url any log, under a name of yours. It is kept in the cache, where simulate and
other commands find it by that name. What was interrupted goes on where it stopped, if
the file has not changed. Only https is spoken, to that host alone.

The checksum of the file is printed in front of its path, as sha256sum does.`,
		Example: `  gridslot trace fetch KTH-SP2-1996-2.1-cln
  gridslot simulate KTH-SP2-1996-2.1-cln
  gridslot trace fetch ours --url https://example.org/ours.swf.gz --max-size 2G`,
		Args:              Arguments(1, 1, "NAME"),
		ValidArgsFunction: completeLogs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := traces.Known(args[0]); !ok && f.URL == "" {
				return Usagef("%s is not in the catalogue ('gridslot trace list'): give its address with --url", args[0])
			}
			if f.MaxSize < 0 {
				return Usagef("--max-size must not be negative")
			}
			if env.Parts.Fetch == nil {
				return &errHandOver{cmd.CommandPath()}
			}
			return env.Parts.Fetch(cmd, args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.URL, "url", "", "address of the file, https://HOST/PATH (default: that of the archive)")
	flags.StringVar(&f.Dir, "dir", "", "folder to keep it in (default: the cache; "+traces.CacheVariable+" names another)")
	ParsedFlag(cmd, &f.MaxSize, "max-size", "1G", "SIZE", "what the file may have at most", machine.ParseSize)
	flags.StringVar(&f.SHA256, "sha256", "", "checksum that the file must have")
	flags.BoolVar(&f.Force, "force", false, "fetch it again, from its first byte")
	_ = cmd.MarkFlagDirname("dir") // it exists
	return cmd
}

package cli

// The archive's logs: trace list.

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/traces"
)

// listed is a log as `gridslot trace list` tells of it, with what is to be cited and where it is
// kept.
type listed struct {
	traces.Log
	Citations []string
	Cached    string // path in the cache; "" where it has not been fetched
}

// newTraceList is `gridslot trace list`. It reads the catalogue, which is a part of the program, and
// looks into the cache; nothing is fetched.
func newTraceList() *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use:   "list [PATTERN]",
		Short: "List the known logs of the " + traces.Archive,
		Long: `List the known logs of the ` + traces.Archive + `, and which of them have
been fetched. PATTERN is a part of a name, machine or site, in lower or upper case, or
with * and ? a whole name. For a single log the command tells everything: also whom
to thank, and what to cite.`,
		Example: `  gridslot trace list
  gridslot trace list sdsc
  gridslot trace list KTH-SP2-1996-2.1-cln --format json`,
		ValidArgsFunction: completeLogs,
		RunE: func(cmd *cobra.Command, args []string) error {
			logs, err := list(strings.Join(args, ""))
			if err != nil {
				return err
			}
			if format == "table" && len(args) > 0 && len(logs) == 1 {
				return tell(cmd, format, &logs[0])
			}
			return tell(cmd, format, logs)
		},
	}
	choiceFlag(cmd, &format, "format", "table|json", "of the list")
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

// listedLogs are logs of the catalogue, in its order.
type listedLogs []listed

// list returns the logs that a pattern is about: it is a part of their name, machine or site, or
// matches their whole name. Case does not count.
func list(pattern string) (logs listedLogs, err error) {
	folder, _ := traces.Cache() // where there is none, none is in it
	wanted := strings.ToLower(traces.Stem(pattern))
	if _, err := path.Match(wanted, ""); err != nil {
		return nil, usagef("%q is no pattern: %w", pattern, err)
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

// years returns the years of the log, "-" if they are not known.
func (l *listed) years() string {
	switch {
	case l.From == 0:
		return "-"
	case l.From == l.To:
		return strconv.Itoa(l.From)
	}
	return fmt.Sprintf("%d-%d", l.From, l.To)
}

func (logs listedLogs) writeTable(p page) error {
	p.row("log", "jobs", "processors", "days", "load", "runtime/estimate", "note", "years", "fetched")
	for _, l := range logs {
		fetched := "no"
		if l.Cached != "" {
			fetched = "yes"
		}
		p.row(l.Name, known(float64(l.Jobs), 0), known(float64(l.Processors), 0), known(l.Days, 1), known(l.Load, 3), known(l.Accuracy, 3), l.Note, l.years(), fetched)
	}
	return nil
}

// writeTable tells all of one log.
func (l *listed) writeTable(p page) error {
	for _, row := range [][2]string{
		{"log", l.Name}, {"machine", l.Machine}, {"site", l.Site}, {"processors", known(float64(l.Processors), 0)},
		{"jobs", known(float64(l.Jobs), 0)}, {"counted by", l.Counted}, {"years", l.years()}, {"days", known(l.Days, 1)},
		{"offered load", known(l.Load, 3)}, {"runtime/estimate", known(l.Accuracy, 3)}, {"missing", l.Missing}, {"note", l.Note},
		{"page", l.Page}, {"file", l.URL}, {"sha256", l.SHA256}, {"thank", l.Acknowledge}, {"cite", strings.Join(l.Citations, "\n\t")},
		{"fetched", cmp.Or(l.Cached, "no: gridslot trace fetch "+l.Name)},
	} {
		if row[1] != "" && row[1] != "-" {
			p.row(row[0], row[1])
		}
	}
	return nil
}

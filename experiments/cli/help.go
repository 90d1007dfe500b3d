package cli

// What help says: the tables of what can be named, by topic, and the usage of a command on a
// screen of 60 lines.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/model"
)

// topic is a table that `gridslot help NAME` shows. text is made when it is asked for.
type topic struct {
	name, about string
	text        func() string
}

// topicOf returns the topic of a table of things that can be asked for by name.
func topicOf[T any](name, about string, t policy.Table[T]) topic {
	return topic{name, about, func() string { return describe(t) }}
}

// topics returns all topics, in the order of the help. What a program adds to the tables is in
// them.
func topics(t *simulation.Tables) []topic {
	return []topic{
		topicOf("policies", "policies of a queue, on clusters, sites of grids and nodes: simulate --policy easy:order=wfp3", t.Policies),
		topicOf("node-policies", "policies on the priced nodes of a domain, beside those of a queue with finder=NAME", nodePolicies(t)),
		topicOf("strategies", "strategies of a grid's brokers: simulate --grid FILE --policy cheapest", t.Strategies),
		topicOf("finders", "searches for windows: --policy easy:finder=amp, criteria of jobs", t.Finders),
		{"sources", "sources of jobs, wherever a log can stand: simulate lublin:jobs=1000:load=0.8", func() string {
			return describe(t.Sources) + "\n\nDIST is one of " + strings.Join(model.DistributionForms(), ", ") + `.
T is a time in seconds or as in 15m, 4h, 30d, or a number of processors; A..B is even
between two. What is drawn for processors is rounded, and drawn anew where no machine has
so many.`
		}},
		topicOf("made", "what trace convert makes that is no log: trace convert vo:cycles=10 jobs.csv", makers(t)),
		topicOf("users", "the rule of trace info --users=break=gap:limit=1h", simulation.Surveys()),
		topicOf("formats", "formats of logs: --from, --to", t.Formats),
		topicOf("outages", "models of failures: simulate --outages exponential:mtbf=30d:repair=4h", t.Outages),
		topicOf("victims", "what becomes of the jobs that outages hit: simulate --victims", simulation.VictimRules()),
		topicOf("predictors", "what jobs are planned by: simulate --predict recent:k=2", t.Predictors),
		topicOf("correctors", "what becomes of a prediction that a job outlives: simulate --correct tsafrir", t.Correctors),
		topicOf("moldable", "speed-ups by which rigid jobs get shapes: simulate --moldable amdahl:serial=0.05", simulation.SpeedUps()),
		{"settings", "the settings of a run: flags of simulate, keys of scenario files, lists of studies", describeSettings},
	}
}

// describe lists the rows of a table with their parameters, each on a line of its own.
func describe[T any](t policy.Table[T]) string {
	var b strings.Builder
	for _, e := range t {
		name := e.Name
		if e.Operand != "" {
			name += ":" + e.Operand
		}
		fmt.Fprintf(&b, "\n  %-13s %s\n", name, e.Text)
		if e.Needs != "" {
			fmt.Fprintf(&b, "      needs %s\n", e.Needs)
		}
		for _, p := range e.Params {
			fmt.Fprintf(&b, "      %s=%s\n          %s\n", p.Name, p.Values, p.Text)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// describeSettings lists the settings with their whole forms.
func describeSettings() string {
	var b strings.Builder
	for _, s := range simulation.SettingTable() {
		fmt.Fprintf(&b, "\n  %s\n", strings.TrimSpace(s.Name+" "+s.Form))
		fmt.Fprintf(&b, "      %s%s\n", s.Doc, defaultOf(s.Default))
	}
	return strings.TrimRight(b.String(), "\n")
}

// defaultOf returns how a default is told behind what a setting means; "" for a default that is
// nothing.
func defaultOf(value string) string {
	if value == "" || value == "false" || value == "0" {
		return ""
	}
	return " (" + value + ")"
}

// nodePolicies returns the policies on nodes that are no policies of a queue.
func nodePolicies(t *simulation.Tables) policy.Table[policy.OnNodes] {
	return slices.DeleteFunc(slices.Clone(t.Nodes), func(e policy.Entry[policy.OnNodes]) bool {
		return slices.Contains(t.Policies.Names(), e.Name)
	})
}

// newHelp is `gridslot help`, of commands and topics.
func newHelp(t *simulation.Tables) *cobra.Command {
	all := topics(t)
	var list strings.Builder
	for _, topic := range all {
		fmt.Fprintf(&list, "\n  %-14s%s", topic.name, topic.about)
	}
	// known returns the names that can stand behind those of a command and its subcommands: topics
	// stand behind help alone.
	known := func(root *cobra.Command, behind []string) (names []string) {
		under, _, err := root.Find(behind)
		if err != nil {
			return nil
		}
		for _, topic := range all {
			if under == root {
				names = append(names, topic.name)
			}
		}
		for _, c := range under.Commands() {
			names = append(names, c.Name())
		}
		return names
	}
	return &cobra.Command{
		Use:   "help [COMMAND...|TOPIC]",
		Short: "Help about a command, or the table of a topic: policies, sources, formats, outages, ...",
		Long:  "Help about a command, or the table of a topic:\n" + list.String(),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return known(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			is := func(t topic) bool { return len(args) == 1 && t.name == args[0] }
			if i := slices.IndexFunc(all, is); i >= 0 {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", all[i].about, all[i].text())
				return err
			}
			if len(args) == 0 {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", cmd.Long); err != nil {
					return err
				}
			}
			under, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command and no topic %q%s", strings.Join(args, " "), enum.Suggestion(args[0], known(cmd.Root(), nil)))
			}
			return under.Help()
		},
	}
}

// formWidth is the number of columns that the form of a flag has. A longer form is cut at a bar;
// help settings has it whole.
const formWidth = 26

// usage writes the usage of a command: a line for each flag, so that any help fits on a screen.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(w, "  %-12s%s\n", c.Name(), c.Short)
			}
		}
		fmt.Fprintf(w, "\n%s COMMAND --help tells more about a command.\n", cmd.CommandPath())
	}
	flags := cmd.LocalFlags()
	if flags.HasAvailableFlags() {
		fmt.Fprint(w, "\nFlags:\n")
		writeFlags(w, flags)
	}
	return nil
}

// writeFlags writes a line for each flag: its name and form, and what it means.
func writeFlags(w io.Writer, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		form, usage := pflag.UnquoteUsage(f)
		_, isFolder := f.Annotations[cobra.BashCompSubdirsInDir]
		_, isFile := f.Annotations[cobra.BashCompFilenameExt]
		switch {
		case isFolder:
			form = "DIR"
		case isFile:
			form = "FILE"
		case form == "int", form == "uint":
			form = "N"
		case form == "float":
			form = "F"
		case form == "string":
			form = "TEXT"
		case form == "strings":
			form = "LIST"
		}
		if len(form) > formWidth {
			cut := strings.LastIndexAny(form[:formWidth-2], "|:")
			form = form[:max(cut, 0)+1] + "..."
		}
		switch {
		case form == "":
		case f.NoOptDefVal != "": // "--check 5" would be the flag without its value, and an argument
			name += "[=" + form + "]"
		default:
			name += " " + form
		}
		fmt.Fprintf(w, "  %-34s %s%s\n", name, usage, defaultOf(strings.Trim(f.DefValue, "[]")))
	})
}

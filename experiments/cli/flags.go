package cli

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload"
)

// parsed is a flag whose text a function of the library reads. It implements pflag.Value.
type parsed[T any] struct {
	// to points to the variable for the value, text is the text from which it was read, and kind
	// the form that help shows.
	to    *T
	parse func(string) (T, error)
	text  string
	kind  string
}

func (p *parsed[T]) String() string { return p.text }
func (p *parsed[T]) Type() string   { return p.kind }

func (p *parsed[T]) Set(s string) error {
	v, err := p.parse(s)
	if err != nil {
		return err
	}
	*p.to, p.text = v, s
	return nil
}

// parsedFlag defines a flag with a default that parse accepts. Help shows its kind, the choices
// separated by bars, and completion offers them.
func parsedFlag[T any](cmd *cobra.Command, to *T, name, value, kind, usage string, parse func(string) (T, error)) {
	p := &parsed[T]{to: to, parse: parse, kind: kind}
	if err := p.Set(value); err != nil {
		panic("the default of --" + name + ": " + err.Error())
	}
	cmd.Flags().Var(p, name, usage)
	complete(cmd, name, choicesOf(kind))
}

// choiceFlag defines a flag that takes one of the choices, which bars separate; the first one is
// the default.
func choiceFlag(cmd *cobra.Command, to *string, name, choices, usage string) {
	first, _, _ := strings.Cut(choices, "|")
	parsedFlag(cmd, to, name, first, choices, usage, oneOf(choices))
}

// folderFlag defines a flag that names a folder; its default is "".
func folderFlag(cmd *cobra.Command, to *string, name, usage string) {
	cmd.Flags().StringVar(to, name, "", usage)
	_ = cmd.MarkFlagDirname(name) // it exists
}

// fileFlag defines a flag that names a file; its default is "".
func fileFlag(cmd *cobra.Command, to *string, name, usage string) {
	cmd.Flags().StringVar(to, name, "", usage)
	_ = cmd.MarkFlagFilename(name) // it exists
}

// choices is the annotation in which a flag keeps what completion offers for it.
const choices = "gridslot_choices"

// complete makes completion offer these values of a flag; see completions.
func complete(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.Flags().SetAnnotation(flag, choices, values); err != nil {
		panic(err) // the flag does not exist
	}
}

// completions tells cobra what complete was told, if the call is one that a shell makes to complete
// another. It is not done in other calls, since cobra keeps the functions, and with them the whole
// command, for as long as the process lives.
func completions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if values, ok := f.Annotations[choices]; ok {
			err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
			if err != nil {
				panic(err) // it has one already
			}
		}
	})
	for _, sub := range cmd.Commands() {
		completions(sub)
	}
}

// settingFlag is the flag of a setting. Its text is checked when it is given, and applied when the
// scenario is known to which it belongs; see given. It implements pflag.Value.
type settingFlag struct {
	simulation.Setting
	text  string
	given bool // the text is not the default any more
}

func (f *settingFlag) String() string { return f.text }

// Type returns pflag's name for the kind of a value: "bool" is a switch.
func (f *settingFlag) Type() string {
	if f.Form == "" {
		return "bool"
	}
	return f.Form
}

// Set checks a text against a scenario of defaults, and keeps it. A list that is given several
// times is all of its parts.
func (f *settingFlag) Set(text string) error {
	if f.given && f.Form == "LIST" {
		text = f.text + "," + text
	}
	if err := f.Setting.Set(simulation.New(), text); err != nil {
		return err
	}
	f.text, f.given = text, true
	return nil
}

// addSettings defines the flags of the settings that are about any of these topics, in the order of
// the table.
func addSettings(cmd *cobra.Command, t *simulation.Tables, topics simulation.Topic) {
	var about []string
	for _, s := range simulation.SettingTable() {
		if s.Topic&topics != 0 {
			about = append(about, s.Name)
		}
	}
	addSetting(cmd, t, about...)
}

// addSetting defines the flags of the settings of these names.
func addSetting(cmd *cobra.Command, t *simulation.Tables, names ...string) {
	for _, s := range simulation.SettingTable() {
		if !slices.Contains(names, s.Name) {
			continue
		}
		f := cmd.Flags().VarPF(&settingFlag{Setting: s, text: s.Default}, s.Name, "", s.Doc)
		if s.Form == "" {
			f.NoOptDefVal = "true"
		}
		complete(cmd, s.Name, valuesOf(t, s))
	}
}

// valuesOf returns the values of a setting that completion offers: the names of a table, or the
// choices of the setting's form.
func valuesOf(t *simulation.Tables, s simulation.Setting) []string {
	switch s.Name {
	case "policy":
		return names(t.Nodes.Names(), t.Strategies.Names())
	case "from":
		return t.Formats.Names()
	case "outages":
		return t.Outages.Names()
	case "victims":
		return simulation.VictimRules().Names()
	case "moldable":
		return simulation.SpeedUps().Names()
	case "predict":
		return t.Predictors.Names()
	case "correct":
		return t.Correctors.Names()
	}
	return choicesOf(s.Form)
}

// choicesOf returns the values among the choices of a form; those in capitals stand for a value.
func choicesOf(form string) []string {
	return slices.DeleteFunc(strings.Split(form, "|"), func(c string) bool { return c != strings.ToLower(c) })
}

// given sets in a scenario what the flags say that are given. Flags that are not given leave what a
// file says.
func given(cmd *cobra.Command, sc *simulation.Scenario) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if s, ok := f.Value.(*settingFlag); ok && err == nil {
			err = sc.Set(s.Name, s.text)
		}
	})
	return err
}

// firstGiven returns the name of the first given flag in alphabetical order. The flags in but do
// not count. It returns "" if no other flag is given.
func firstGiven(cmd *cobra.Command, but ...string) (first string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if first == "" && !slices.Contains(but, f.Name) {
			first = f.Name
		}
	})
	return first
}

// optionsOf returns the options of reading a log that the flags of a command give, and the format
// that they name.
func optionsOf(cmd *cobra.Command) (o workload.Options, from string, err error) {
	sc := simulation.New()
	err = given(cmd, sc)
	o = sc.Workload.Options
	o.Seed, o.Stdin = sc.Settings.Seed, cmd.InOrStdin()
	return o, sc.Workload.From, err
}

// openLog opens a log or source by the flags of a command, or the embedded sample if path is "".
// change, if set, changes the options beyond the flags.
func openLog(cmd *cobra.Command, t *simulation.Tables, path string, change func(*workload.Options)) (*workload.Trace, error) {
	o, from, err := optionsOf(cmd)
	if err != nil {
		return nil, worded(cmd, err)
	}
	if change != nil {
		change(&o)
	}
	trace, err := t.OpenTrace(cmd.Context(), path, from, o)
	return trace, worded(cmd, err)
}

// within yields records as long as ctx lasts; then it yields the error of ctx.
func within(ctx context.Context, records iter.Seq2[*workload.Record, error]) iter.Seq2[*workload.Record, error] {
	return func(yield func(*workload.Record, error) bool) {
		for rec, err := range records {
			if ctx.Err() != nil {
				rec, err = nil, ctx.Err()
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// oneOf returns a parser that accepts the choices of a kind as they are.
func oneOf(kind string) func(string) (string, error) {
	choices := strings.Split(kind, "|")
	return func(s string) (string, error) {
		for _, c := range choices {
			if s == c {
				return s, nil
			}
		}
		if len(choices) == 2 {
			return "", usagef("want %s, not %q", strings.Join(choices, " or "), s)
		}
		return "", usagef("want one of %s, not %q", strings.Join(choices, ", "), s)
	}
}

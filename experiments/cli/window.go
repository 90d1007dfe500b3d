package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy/window"
)

// windowSearch is one call of `gridslot window`. quantum and distance are the flags of set.Quantum
// and set.MaxDistance, in time units.
type windowSearch struct {
	algorithm         string
	quantum, distance float64
	set               window.Settings
	format            string
}

// newWindow is `gridslot window`: one search on a problem of its own, without a simulation around
// it, such as other programs compare their answers with.
func newWindow(env Env) *cobra.Command {
	s := &windowSearch{}
	cmd := &cobra.Command{
		Use:   "window PROBLEM.json --algorithm NAME",
		Short: "Find a window of slots for one request",
		Long: `Find a window, slots of distinct nodes that begin together, for a request written
as JSON (- is standard input):

  {"kind": "square", "horizon": [0, 1200],
   "request": {"nodes": 7, "volume": 800, "minPerf": 1, "budget": 644},
   "nodes": [{"id": 1, "perf": 9, "price": 1.19, "q": 1.87}, ...],
   "slots": [[1, 0, 554], ...]}            node, start, end; by start

or {"instances": [...]}, which are solved one by one. Other keys of a request:
maxPrice, deadline, until, amounts, labels. Unknown keys are ignored.
The available searches look at nodes' amounts "availability" (a probability) and
"end-deviation" (of the task before, in time units), and at their label "group".

Searches for rough windows, in which every task ends at its own time:
` + wrapped(window.Names(window.Rough)) + `
Searches for square windows, in which every node is held as long as the slowest:
` + wrapped(window.Names(window.Square)),
		Example: `  gridslot window problem.json --algorithm dep
  gridslot window problem.json --algorithm maxq --quantum 1 --round-costs 0.01 --format json`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), env, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&s.algorithm, "algorithm", "", "name of the search")
	f.Float64Var(&s.quantum, "quantum", 0, "round task times up to a multiple of this (0: exact)")
	f.Float64Var(&s.set.RoundCosts, "round-costs", 0, "round each cost up to a multiple of this before the budget test (0: exact)")
	f.Float64Var(&s.distance, "max-distance", 0, "what a slot's distance counts at most, in dep (0: no limit)")
	f.BoolVar(&s.set.AnyStart, "any-start", false, "dep, coord: look between the starts of slots, too")
	choiceFlag(cmd, &s.format, "format", "table|json", "of the answers; json: one object a problem, one a line")
	f.SortFlags = false
	complete(cmd, "algorithm", windowNames())
	return cmd
}

// windowNames returns the names of all searches, of both kinds of windows.
func windowNames() []string {
	names := slices.Concat(window.Names(window.Rough), window.Names(window.Square))
	slices.Sort(names)
	return slices.Compact(names)
}

// wrapped lists words in lines of at most some 70 columns, indented, for a help text.
func wrapped(words []string) string {
	var b strings.Builder
	width := 0
	for i, w := range words {
		if i == 0 || width+len(w) > 70 {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(" ")
			width = 0
		}
		n, _ := fmt.Fprintf(&b, " %s", w)
		width += n
	}
	return b.String() + "\n"
}

// run answers all problems of a file. A search may only know one kind of windows: of several
// problems those of the other kind are left out, with a word.
func (s *windowSearch) run(ctx context.Context, env Env, path string) error {
	if !slices.Contains(windowNames(), s.algorithm) {
		return usagef("--algorithm must name a search: none is called %q; there are %s%s", s.algorithm, strings.Join(windowNames(), ", "), enum.Suggestion(s.algorithm, windowNames()))
	}
	if !(s.quantum >= 0) || !(s.distance >= 0) || !(s.set.RoundCosts >= 0) {
		return usagef("--quantum, --round-costs and --max-distance must be 0 or more")
	}
	s.set.Quantum, s.set.MaxDistance = des.Seconds(s.quantum), des.Seconds(s.distance)

	problems, err := readProblems(env.Stdin, path)
	if err != nil {
		return err
	}
	answers := make([]windowAnswer, 0, len(problems))
	skipped := 0
	for i := range problems {
		p := &problems[i]
		if !slices.Contains(window.Names(p.Kind), s.algorithm) && len(problems) > 1 && slices.Contains([]window.Kind{window.Rough, window.Square}, p.Kind) {
			skipped++
			answers = append(answers, windowAnswer{
				ID: *p.ID, Algorithm: s.algorithm, Slots: [][3]float64{},
				Skipped: fmt.Sprintf("no search for %s windows is called %s", p.Kind, s.algorithm),
			})
			continue
		}
		answer, err := p.solve(ctx, s.algorithm, s.set)
		if err != nil {
			return fmt.Errorf("%s: problem %d: %w", path, *p.ID, err)
		}
		answers = append(answers, answer)
	}
	if skipped > 0 {
		fmt.Fprintf(shown{env.Stderr}, "gridslot: %s: %d of %d problems left out: %s searches windows of the other kind\n", path, skipped, len(problems), s.algorithm)
	}
	if s.format == "json" {
		return printJSON(env.Stdout, answers)
	}
	return printWindows(env.Stdout, answers)
}

// readProblems reads the problems of a file, or of standard input for "-"; there is at least one.
func readProblems(stdin io.Reader, path string) ([]windowProblem, error) {
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("opening the problem: %w", err)
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	problems, err := readWindowProblems(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(problems) == 0 {
		return nil, fmt.Errorf("%s: there are no problems in it", path)
	}
	return problems, nil
}

// printJSON prints an object for each answer, one a line.
func printJSON(w io.Writer, answers []windowAnswer) error {
	enc := json.NewEncoder(w)
	for _, a := range answers {
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

// printWindows prints a line for each problem, with the nodes of its window.
func printWindows(w io.Writer, answers []windowAnswer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "problem\tfound\tstart\tlength\tcost\tvalue\t\tnodes")
	for _, a := range answers {
		switch {
		case a.Skipped != "":
			fmt.Fprintf(t, "%d\tleft out\t\t\t\t\t\t\n", a.ID)
		case !a.Found:
			fmt.Fprintf(t, "%d\tnone\t\t\t\t\t\t\n", a.ID)
		default:
			var nodes []string
			for _, slot := range a.Slots {
				nodes = append(nodes, fmt.Sprint(slot[0]))
			}
			fmt.Fprintf(t, "%d\tyes\t%.6g\t%.6g\t%.6g\t%.6g\t\t%s\n", a.ID, a.Start, a.Length, a.Cost, a.Value, strings.Join(nodes, " "))
		}
	}
	return t.Flush()
}

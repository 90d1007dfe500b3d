package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/internal/plain"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/facts"
)

// traceInfo is the output of `gridslot trace info` about one log. Times are in seconds.
type traceInfo struct {
	Name       string  `json:"name"`
	SHA256     string  `json:"sha256"`
	Computer   string  `json:"computer"`
	Processors int     `json:"processors"`
	Lines      int64   `json:"lines"`
	Jobs       int64   `json:"jobs"`
	Users      int     `json:"users"`
	First      float64 `json:"first_submission"`
	Last       float64 `json:"last_submission"`
	// Load is 0 if the size of the machine is not known, or if all jobs come at once.
	Load     float64 `json:"offered_load"`
	MeanSize float64 `json:"mean_processors"`
	MaxSize  int     `json:"max_processors"`
	MeanRun  float64 `json:"mean_runtime"`
	MaxRun   float64 `json:"max_runtime"`
	Accuracy float64 `json:"mean_runtime_to_estimate"`

	*facts.Facts
	// Counts by reason, of lines that are left out, that are damaged, and of jobs that were changed
	// or have something worth knowing. Jobs, Left and Bad together are Lines.
	Left  map[string]int64 `json:"left_out"`
	Bad   map[string]int64 `json:"damaged"`
	Other map[string]int64 `json:"noted"` // jobs that were changed, and what is worth knowing

	report *workload.Report
}

// newTraceInfo is `gridslot trace info`, which has four answers: what is in a log, how far two are
// apart, what is wrong with one, and who is in it. One call gives one of them.
func newTraceInfo(tables *simulation.Tables) *cobra.Command {
	var format, figures string
	check := 0
	var survey *simulation.Survey
	cmd := &cobra.Command{
		Use:   "info [LOG|SOURCE [OTHER]]",
		Short: "Tell what is in a log and what is wrong with it, who its users are, or how far it is from another",
		Long: `Tell what is in a log: machine, jobs, estimates, times of submission, offered load week by week, users,
and oddities. Hours are by the clock that the header names, otherwise from time 0.

Of two logs the command tells the facts side by side, and the distances between their distributions: ks, the
greatest difference between the shares of jobs with no more than x (Kolmogorov and Smirnov); w1, how far
values must be moved on average to turn one distribution into the other (Wasserstein), in the quantity's unit.

--check tells what is wrong, by line, field and reason; the exit code is 1 if lines are damaged,
submissions go backwards or a job number occurs twice. --users tells sessions, batches and think times.`,
		Example: `  gridslot trace info KTH-SP2-1996-2.1-cln.swf.gz --figures figures
  gridslot trace info lublin:jobs=28000:procs=100:load=0.7 KTH-SP2-1996-2.1-cln.swf.gz
  gridslot trace info log.swf.gz --check
  gridslot trace info log.swf.gz --users=break=gap:limit=1h`,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			switch path := strings.Join(args, ""); {
			case given("check") && survey != nil, len(args) == 2 && (given("check") || survey != nil || figures != ""), figures != "" && (given("check") || survey != nil):
				return usagef("give one of --check, --users, --figures and a second log")
			case len(args) == 2:
				return compareLogs(cmd, tables, args, format)
			case given("check"):
				return checkLog(cmd, tables, path, format, check)
			case survey != nil:
				return surveyUsers(cmd, tables, path, format, *survey)
			case format == "csv":
				return usagef("--format csv is for two logs, --check and --users")
			default:
				return tellLog(cmd, tables, path, format, figures)
			}
		},
	}
	addSettings(cmd, tables, simulation.OfRecords)
	f := cmd.Flags()
	parsedFlag(cmd, &check, "check", "", "N", "tell what is wrong with the log, up to N findings of each reason (10)", optional(func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			err = fmt.Errorf("want how many findings of each reason to list, 1 or more, not %q", text)
		}
		return n, err
	}))
	f.Lookup("check").NoOptDefVal = strconv.Itoa(workload.DefaultExamples)
	parsedFlag(cmd, &survey, "users", "", "RULE", "tell of its users; RULE says what ends a session, see help users", optional(func(text string) (*simulation.Survey, error) {
		chosen, err := simulation.Surveys().Parse(strings.TrimSuffix("users:"+text, ":default"))
		return &chosen.Value, err
	}))
	f.Lookup("users").NoOptDefVal = "default"
	choiceFlag(cmd, &format, "format", "table|json|csv", "of the output")
	folderFlag(cmd, &figures, "figures", "folder for figures as SVG (none are drawn)")
	return cmd
}

// tellLog tells what is in a log, and draws it if a folder for figures is named.
func tellLog(cmd *cobra.Command, tables *simulation.Tables, path, format, figures string) error {
	t, err := openLog(cmd, tables, path, nil)
	if err != nil {
		return err
	}
	info, err := inspect(cmd.Context(), t)
	if err != nil {
		return err
	}
	if figures != "" {
		if err := drawLog(cmd, figures, info); err != nil {
			return err
		}
	}
	return tell(cmd, format, info)
}

// inspect reads the jobs of a trace once and sums them up, and then, for the load and the checksum,
// what they need.
func inspect(ctx context.Context, t *workload.Trace) (*traceInfo, error) {
	info := &traceInfo{Name: t.Name, Computer: t.Header.Computer, Processors: t.MaxProcs, Left: map[string]int64{}, Bad: map[string]int64{}, Other: map[string]int64{}}
	f, report, err := facts.Of(ctx, t)
	if err != nil {
		return nil, err
	}
	info.Facts, info.Lines, info.Jobs, info.report = f, report.Lines, f.Jobs, report
	info.First, info.Last = f.First, f.Last
	info.MeanSize, info.MaxSize = f.Sizes.Mean, int(f.Sizes.Greatest)
	info.MeanRun, info.MaxRun, info.Accuracy = f.Runtimes.Mean, f.Runtimes.Greatest, f.Accuracy
	for _, o := range f.Owners {
		if o.Kind == "users" {
			info.Users = o.Number
		}
	}
	// Findings of the reader by what became of the line.
	for reason, n := range report.Counts() {
		counts := info.Other
		switch reason.Class() {
		case workload.LeftOut:
			counts = info.Left
		case workload.Damaged:
			counts = info.Bad
		}
		counts[reason.String()] = n
	}
	// The load of the part that is taken; if it was scaled, it is the load that was asked for.
	if t.MaxProcs > 0 {
		load, err := t.OfferedLoad()
		if err != nil {
			return nil, err
		}
		if t.Options.Load > 0 {
			load = t.Options.Load
		}
		if !math.IsInf(load, 0) { // all at once
			info.Load = load
		}
	}
	info.SHA256, err = t.SHA256()
	return info, err
}

// writeTable writes the facts, a line a fact, what the reader has found, and the tables of them.
func (i *traceInfo) writeTable(p page) error {
	p.row("trace", i.Name)
	p.row("sha256", i.SHA256)
	if i.Computer != "" {
		p.row("computer", i.Computer)
	}
	if i.Processors > 0 {
		p.fact("processors", "%d", i.Processors)
	} else {
		p.row("processors", "unknown: the header has neither MaxProcs nor MaxNodes")
	}
	p.fact("jobs", "%d of %d lines", i.Jobs, i.Lines)
	p.fact("users", "%d", i.Users)
	p.fact("submissions", "%s s to %s s (%.1f days)", seconds(i.First), seconds(i.Last), (i.Last-i.First)/des.Day.Seconds())
	if i.Load > 0 {
		p.fact("offered load", "%.3f", i.Load)
	}
	p.fact("size", "mean %.1f, largest %d processors", i.MeanSize, i.MaxSize)
	p.fact("runtime", "mean %.0f s, longest %s s", i.MeanRun, seconds(i.MaxRun))
	p.fact("runtime/estimate", "mean %.3f", i.Accuracy)
	if err := p.say("\n%v\n", i.report); err != nil || i.Jobs == 0 {
		return err
	}
	writeFacts(p, i.Facts)
	return nil
}

// mostWeeks is the number of weeks that the page shows: some three years, in sixteen lines.
const mostWeeks = 160

// writeFacts writes tables of words and numbers with a blank line between them.
func writeFacts(p page, f *facts.Facts) {
	p.row()
	writeDistributions(p, f)
	p.row()
	writeRequests(p, f)
	writeOwners(p, f)
	writeDeciles(p, f.Estimates)
	writeRush(p, &f.Arrivals)
	writeWeeks(p, f.Weeks)

	p.row()
	if len(f.Oddities) == 0 {
		p.row("nothing odd was found")
	}
	for _, o := range f.Oddities {
		p.row(o.Kind, strconv.FormatInt(o.Count, 10), o.Text)
	}
}

// writeDistributions writes a line of moments and quantiles for each quantity.
func writeDistributions(p page, f *facts.Facts) {
	p.row("", "jobs", "mean", "deviation", "5%", "25%", "median", "75%", "95%", "99%", "greatest")
	distribution := func(name string, d *facts.Distribution) {
		if d == nil || d.N == 0 {
			return
		}
		cells := []string{name, strconv.FormatInt(d.N, 10)}
		for _, v := range []float64{d.Mean, d.Deviation, d.P5, d.P25, d.Median, d.P75, d.P95, d.P99, d.Greatest} {
			cells = append(cells, plain.FourFigures(v))
		}
		p.row(cells...)
	}
	distribution("size, processors", &f.Sizes.Distribution)
	distribution("runtime, s", &f.Runtimes)
	if f.Estimates != nil {
		distribution("estimate, s", &f.Estimates.Distribution)
		distribution("runtime/estimate", &f.Estimates.Accuracy)
	}
	distribution("gap between submissions, s", &f.Gaps)
	distribution("wait in the log, s", f.Waits)
	distribution("memory used, kB a processor", f.UsedMemory)
	distribution("memory requested, kB a processor", f.RequestedMemory)
	for _, c := range f.Columns {
		distribution(strings.TrimSuffix(harmless(c.Name)+", "+c.Unit, ", "), c.Numbers)
	}
}

// writeRequests writes what jobs ask for, and what became of them in the log.
func writeRequests(p page, f *facts.Facts) {
	s := f.Sizes
	text := fmt.Sprintf("%s of one processor, of the others %s powers of two", percent(s.Serial), percent(s.PowersOfTwo))
	if f.Processors > 0 {
		text += fmt.Sprintf("; %d take the whole machine", s.WholeMachine)
	}
	p.row("sizes", text)
	if c := f.Correlation; c.Values != nil && c.Logarithms != nil {
		p.fact("size and runtime", "correlation %.2f, of their logarithms %.2f", *c.Values, *c.Logarithms)
	}
	if e := f.Estimates; e != nil {
		p.fact("estimates", "%d different ones, %d jobs without; %s of jobs end at the limit or up to a minute later, %s later", e.Distinct, e.Missing, percent(e.AtLimit), percent(e.Beyond))
		popular := make([]string, 0, len(e.Popular))
		for _, p := range e.Popular {
			popular = append(popular, fmt.Sprintf("%s s %s", seconds(p.Value), percent(p.Share)))
		}
		p.row("popular estimates", strings.Join(popular, ", "))
	}
	if r := f.Recorded; r != nil {
		text := fmt.Sprintf("%d jobs, at most %d processors at a time", r.Jobs, r.Peak)
		if r.Utilization > 0 {
			text += fmt.Sprintf(", utilization %.3f", r.Utilization)
		}
		p.row("schedule in the log", text+fmt.Sprintf("; idle for %s s, %s s at most", plain.FourFigures(r.Idle), plain.FourFigures(r.LongestIdle)))
	}
}

// writeOwners writes who submits what, and what else is told of jobs: statuses, repetitions,
// columns, dependencies.
func writeOwners(p page, f *facts.Facts) {
	for _, o := range f.Owners {
		text := fmt.Sprintf("%d", o.Number)
		if o.Number > 1 {
			who := fmt.Sprintf("number %d", o.Top[0].ID)
			if name := o.Top[0].Name; name != "" {
				who += " (" + harmless(name) + ")"
			}
			text += fmt.Sprintf("; %s has %s of the jobs, %d have half of them", who, percent(o.TopJobs), o.Half)
		}
		if o.Unknown > 0 {
			text += fmt.Sprintf("; %d jobs of nobody known", o.Unknown)
		}
		p.row(o.Kind, text)
	}
	statuses := make([]string, 0, len(f.Statuses))
	for _, s := range f.Statuses {
		statuses = append(statuses, fmt.Sprintf("%s %s", s.Name, percent(s.Share)))
	}
	p.row("statuses", strings.Join(statuses, ", "))
	if r := f.Repeats; r != nil {
		p.fact("repeated jobs", "%s are as the one before of their user; at most %d in a row, of user %d", percent(r.Share), r.Longest, r.User)
	}
	for _, c := range f.Columns {
		if c.Distinct == 0 {
			continue
		}
		popular := make([]string, 0, 5)
		for _, p := range c.Popular[:min(5, len(c.Popular))] {
			popular = append(popular, harmless(p.Text)+" "+percent(p.Share))
		}
		p.fact(harmless(c.Name), "%d in %d jobs: %s", c.Distinct, c.Known, strings.Join(popular, ", "))
	}
	if d := f.Dependencies; d != nil {
		text := fmt.Sprintf("%d jobs (%s) come after another", d.Jobs, percent(d.Share))
		if d.ThinkTimes != nil {
			text += fmt.Sprintf("; median think time %s s", plain.FourFigures(d.ThinkTimes.Median))
		}
		p.row("dependencies", text)
	}
}

// writeDeciles writes how much of their estimates jobs use.
func writeDeciles(p page, e *facts.Estimates) {
	if e == nil {
		return
	}
	p.row()
	tenths, shares := []string{"runtime/estimate"}, []string{"jobs, %"}
	for i, share := range e.Deciles {
		tenths, shares = append(tenths, fmt.Sprintf("to %d%%", 10*(i+1))), append(shares, hundredths(share))
	}
	// The last part has no end: jobs may run longer than estimated.
	tenths[10] = "90% on"
	p.row(tenths...)
	p.row(shares...)
}

// writeRush writes submissions by hour and by weekday. Without a clock in the header, hours count
// from time 0 and days have numbers.
func writeRush(p page, a *facts.Arrivals) {
	clock, days := "hour from time 0, modulo 24", "0 1 2 3 4 5 6"
	if a.Zone != "" {
		clock, days = "hour, "+a.Zone, "Su Mo Tu We Th Fr Sa"
	}
	for _, from := range []int{0, 12} {
		hours, shares := []string{clock}, []string{"jobs, %"}
		for h := from; h < from+12; h++ {
			hours, shares = append(hours, strconv.Itoa(h)), append(shares, hundredths(a.Hours[h].Share))
		}
		p.row()
		p.row(hours...)
		p.row(shares...)
	}
	shares := []string{"jobs, %"}
	for _, d := range a.Days {
		shares = append(shares, hundredths(d.Share))
	}
	p.row()
	p.row(append([]string{"day"}, strings.Fields(days)...)...)
	p.row(shares...)
}

// writeWeeks writes the load over time, ten weeks a line.
func writeWeeks(p page, weeks []facts.Week) {
	if !slices.ContainsFunc(weeks, func(w facts.Week) bool { return w.Load > 0 }) {
		return
	}
	p.row()
	name := "offered load by week"
	if len(weeks) > mostWeeks {
		name, weeks = fmt.Sprintf("offered load, first %d of %d weeks", mostWeeks, len(weeks)), weeks[:mostWeeks]
	}
	for of := range slices.Chunk(weeks, 10) {
		cells := []string{name}
		for _, w := range of {
			cells = append(cells, fmt.Sprintf("%.2f", w.Load))
		}
		p.row(cells...)
		name = ""
	}
}

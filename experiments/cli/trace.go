package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

func newTrace(t *scenario.Tables) *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace",
		Short: "Look at logs, check them, convert them",
	}, newTraceInfo(t), newTraceValidate(), newTraceList(), newTraceConvert())
}

// traceInfo is what `gridslot trace info` tells. Times are in seconds.
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
	Load       float64 `json:"offered_load"`
	MeanSize   float64 `json:"mean_processors"`
	MaxSize    int     `json:"max_processors"`
	MeanRun    float64 `json:"mean_runtime"`
	MaxRun     float64 `json:"max_runtime"`
	Accuracy   float64 `json:"mean_runtime_to_estimate"`
}

func newTraceInfo(t *scenario.Tables) *cobra.Command {
	flags := workloadFlags{tables: t}
	var format string
	cmd := &cobra.Command{
		Use:   "info [TRACE]",
		Short: "Tell what is in a log: its machine, its jobs, the load they offer",
		Args:  arguments(0, 1, "[TRACE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := flags.open(cmd, args)
			if err != nil {
				return err
			}
			info, report, err := inspect(t)
			if err != nil {
				return err
			}
			if format == "json" {
				return writeJSON(cmd.OutOrStdout(), info)
			}
			if err := info.write(cmd.OutOrStdout()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "\n%v\n", report)
			return err
		},
	}
	flags.add(cmd)
	parsedFlag(cmd, &format, "format", "table", "table|json", "of the output", oneOf("table|json"))
	return cmd
}

// inspect reads the jobs of a trace.
func inspect(t *workload.Trace) (traceInfo, *workload.Report, error) {
	info := traceInfo{Name: t.Name, Computer: t.Header.Computer, Processors: t.MaxProcs}
	jobs, err := t.Open()
	if err != nil {
		return info, nil, err
	}
	users := map[int32]bool{}
	var size, run, accuracy float64
	for j := range jobs.Jobs() {
		if info.Jobs == 0 {
			info.First = j.Submit.Seconds()
		}
		info.Jobs++
		info.Last = j.Submit.Seconds()
		if j.User >= 0 {
			users[j.User] = true
		}
		size += float64(j.Request.Nodes)
		info.MaxSize = max(info.MaxSize, j.Request.Nodes)
		run += j.Runtime.Seconds()
		info.MaxRun = max(info.MaxRun, j.Runtime.Seconds())
		accuracy += min(1, j.Runtime.Seconds()/j.Request.Length.Seconds())
	}
	if err := jobs.Err(); err != nil {
		return info, nil, err
	}
	info.Lines, info.Users = jobs.Report().Lines, len(users)
	if n := float64(info.Jobs); n > 0 {
		info.MeanSize, info.MeanRun, info.Accuracy = size/n, run/n, accuracy/n
	}
	if t.MaxProcs > 0 {
		load, err := t.OfferedLoad()
		if err != nil {
			return info, nil, err
		}
		if t.Options.Load > 0 {
			load = t.Options.Load
		}
		if !math.IsInf(load, 0) { // all at once
			info.Load = load
		}
	}
	info.SHA256, err = t.SHA256()
	return info, jobs.Report(), err
}

func (i traceInfo) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	row("trace", "%s", i.Name)
	row("sha256", "%s", i.SHA256)
	if i.Computer != "" {
		row("computer", "%s", i.Computer)
	}
	if i.Processors > 0 {
		row("processors", "%d", i.Processors)
	} else {
		row("processors", "unknown: the header has neither MaxProcs nor MaxNodes")
	}
	row("jobs", "%d of %d lines", i.Jobs, i.Lines)
	row("users", "%d", i.Users)
	row("submissions", "%s s to %s s (%.1f days)", seconds(i.First), seconds(i.Last), (i.Last-i.First)/des.Day.Seconds())
	if i.Load > 0 {
		row("offered load", "%.3f", i.Load)
	}
	row("size", "mean %.1f, largest %d processors", i.MeanSize, i.MaxSize)
	row("runtime", "mean %.0f s, longest %s s", i.MeanRun, seconds(i.MaxRun))
	row("runtime/estimate", "mean %.3f", i.Accuracy)
	return t.Flush()
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) }

// traceFinding is a row of what `gridslot trace validate` tells.
type traceFinding struct {
	Class   string `json:"class"`
	Reason  string `json:"reason"`
	Line    int64  `json:"line"`  // 0 where it is about the file
	Field   int    `json:"field"` // 0 where it is about the line
	Text    string `json:"text"`
	Message string `json:"message"`
}

func newTraceValidate() *cobra.Command {
	o := workload.Options{}
	format := ""
	cmd := &cobra.Command{
		Use:   "validate TRACE",
		Short: "Tell what is wrong with a log: line, field, reason",
		Long: `Tell what is wrong with a log: line, field, reason.
The exit code is 1 where lines are damaged, submissions go backwards or a job
number is given twice, so that it cannot be simulated as it is or its schedule
not checked; what is left out or worth knowing is told too.`,
		Args: arguments(1, 1, "TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Examples < 1 {
				return usagef("--examples must be 1 or more, not %d", o.Examples)
			}
			o.Stdin = cmd.InOrStdin()
			o.CheckNumbers = true
			o.Sort = true // so that what goes backwards does not end the reading
			t, err := o.Open(args[0])
			if err != nil {
				return err
			}
			jobs, err := t.Open()
			if err != nil {
				return err
			}
			for range jobs.Jobs() {
			}
			if err := jobs.Err(); err != nil {
				return err
			}
			report := jobs.Report()
			if err := writeFindings(cmd.OutOrStdout(), format, t, report); err != nil {
				return err
			}
			damaged, backwards, repeated := report.Total(workload.Damaged), report.Count(workload.BackwardsSubmission), report.Count(workload.RepeatedNumber)
			if damaged > 0 || backwards > 0 || repeated > 0 {
				return fmt.Errorf("%s: %d damaged, %d out of order, %d with a number given before", t.Name, damaged, backwards, repeated)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&o.Examples, "examples", workload.DefaultExamples, "how many findings of each reason to list")
	parsedFlag(cmd, &format, "format", "table", "table|csv|json", "of the report", oneOf("table|csv|json"))
	return cmd
}

func writeFindings(w io.Writer, format string, t *workload.Trace, report *workload.Report) error {
	findings := []traceFinding{}
	for _, f := range report.Findings() {
		findings = append(findings, traceFinding{f.Reason.Class().String(), f.Reason.String(), f.Line, f.Field, f.Text, f.String()})
	}
	switch format {
	case "json":
		counts := map[string]int64{} // encoded in order of key
		for reason, n := range report.Counts() {
			counts[reason.String()] = n
		}
		return writeJSON(w, map[string]any{"trace": t.Name, "lines": report.Lines, "jobs": report.Jobs, "counts": counts, "findings": findings})
	case "csv":
		c := csv.NewWriter(w)
		rows := [][]string{{"class", "reason", "line", "field", "text"}}
		for _, f := range findings {
			rows = append(rows, []string{f.Class, f.Reason, strconv.FormatInt(f.Line, 10), strconv.Itoa(f.Field), f.Text})
		}
		return c.WriteAll(rows)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v\n", t.Name, report)
	if len(findings) > 0 {
		b.WriteByte('\n')
	}
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Class, f.Message)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func newTraceList() *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the known logs of the " + traces.Archive,
		Args:  arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format == "json" {
				return writeJSON(cmd.OutOrStdout(), traces.Catalogue())
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "log\tjobs\tprocessors\tdays\tload\truntime/estimate\tnote")
			for _, l := range traces.Catalogue() {
				accuracy := "-"
				if l.Accuracy > 0 {
					accuracy = fmt.Sprintf("%.3f", l.Accuracy)
				}
				fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%.3f\t%s\t%s\n", l.Name, l.Jobs, l.Processors, l.Days, l.Load, accuracy, l.Note)
			}
			return t.Flush()
		},
	}
	parsedFlag(cmd, &format, "format", "table", "table|json", "of the list", oneOf("table|json"))
	return cmd
}

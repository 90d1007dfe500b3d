package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
)

func newTrace(env Env, t *scenario.Tables) *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace",
		Short: "Look at logs, compare them, check them, clean and convert them, fetch them",
	}, newTraceInfo(t), newTraceCompare(t), newTraceValidate(t), newTraceList(), newTraceFetch(), newTraceConvert(t), newTraceSplit(t), newTraceMerge(t),
		newTraceUsers(t), newTraceFeedback(t), newTraceResample(t), newTracePlatform())
}

// traceFinding is a row of what `gridslot trace validate` tells.
type traceFinding struct {
	Class   string `json:"class"`
	Reason  string `json:"reason"`
	Line    int64  `json:"line"`  // 0 where it is about the file
	Field   int    `json:"field"` // 0 where it is about the line
	Text    string `json:"text"`
	Message string `json:"message"`
	Column  string `json:"column,omitempty"` // its name, in formats whose columns have names
}

func newTraceValidate(tables *scenario.Tables) *cobra.Command {
	examples := 0
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
			if examples < 1 {
				return usagef("--examples must be 1 or more, not %d", examples)
			}
			t, err := openLog(cmd, tables, args[0], func(o *workload.Options) {
				o.Examples, o.CheckNumbers = examples, true
				o.Sort = true // so that what goes backwards does not end the reading
			})
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
	addSetting(cmd, tables, "from")
	cmd.Flags().IntVar(&examples, "examples", workload.DefaultExamples, "how many findings of each reason to list")
	parsedFlag(cmd, &format, "format", "table", "table|csv|json", "of the report", oneOf("table|csv|json"))
	return cmd
}

func writeFindings(w io.Writer, format string, t *workload.Trace, report *workload.Report) error {
	findings := []traceFinding{}
	for _, f := range report.Findings() {
		findings = append(findings, traceFinding{f.Reason.Class().String(), f.Reason.String(), f.Line, f.Field, f.Text, f.String(), f.Column})
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
		rows := [][]string{{"class", "reason", "line", "field", "text", "column"}}
		for _, f := range findings {
			rows = append(rows, []string{f.Class, f.Reason, strconv.FormatInt(f.Line, 10), strconv.Itoa(f.Field), f.Text, f.Column})
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
	_, err := io.WriteString(shown{w}, b.String())
	return err
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

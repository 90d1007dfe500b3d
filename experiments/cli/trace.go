package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload"
)

func newTrace(env Env, t *simulation.Tables) *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace COMMAND",
		Short: "Look at logs, write others of them or of models, fetch them",
	}, newTraceInfo(t), newTraceConvert(t), newTraceFetch(), newTraceList())
}

// traceFinding is a row of what `gridslot trace info --check` tells.
type traceFinding struct {
	Class   string `json:"class"`
	Reason  string `json:"reason"`
	Line    int64  `json:"line"`  // 0 where it is about the file
	Field   int    `json:"field"` // 0 where it is about the line
	Text    string `json:"text"`
	Message string `json:"message"`
	Column  string `json:"column,omitempty"` // its name, in formats whose columns have names
}

// checkLog tells what is wrong with a log, up to so many findings of each reason, and fails
// where it cannot be simulated as it is or its schedule not checked.
func checkLog(cmd *cobra.Command, tables *simulation.Tables, path, format string, examples int) error {
	t, err := openLog(cmd, tables, path, func(o *workload.Options) {
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

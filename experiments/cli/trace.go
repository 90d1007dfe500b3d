package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/workload"
)

// newTrace is `gridslot trace`, which only holds other commands.
func newTrace(env Env, t *simulation.Tables) *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace COMMAND",
		Short: "Look at logs, write others of them or of models, fetch them",
	}, newTraceInfo(t), newTraceConvert(t), newTraceFetch(), newTraceList())
}

// checkedLog is the output of `gridslot trace info --check` about a log.
type checkedLog struct {
	Counts   map[string]int64 `json:"counts"` // findings by reason
	Findings []traceFinding   `json:"findings"`
	Jobs     int64            `json:"jobs"`
	Lines    int64            `json:"lines"`
	Trace    string           `json:"trace"`

	report *workload.Report
}

// traceFinding is one of the findings that are listed.
type traceFinding struct {
	Class   string `json:"class"`
	Reason  string `json:"reason"`
	Line    int64  `json:"line"`  // 0 where it is about the file
	Field   int    `json:"field"` // 0 where it is about the line
	Text    string `json:"text"`
	Message string `json:"message"`
	Column  string `json:"column,omitempty"` // its name, in formats whose columns have names
}

// checkLog tells what is wrong with a log, up to examples findings of each reason. It fails if the
// log cannot be simulated as it is, or its schedule not checked.
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
		if err := cmd.Context().Err(); err != nil {
			return err
		}
	}
	if err := jobs.Err(); err != nil {
		return err
	}
	report := jobs.Report()
	found := checkedLog{Trace: t.Name, Lines: report.Lines, Jobs: report.Jobs, Counts: map[string]int64{}, Findings: []traceFinding{}, report: report}
	for reason, n := range report.Counts() {
		found.Counts[reason.String()] = n
	}
	for _, f := range report.Findings() {
		found.Findings = append(found.Findings, traceFinding{f.Reason.Class().String(), f.Reason.String(), f.Line, f.Field, f.Text, f.String(), f.Column})
	}
	if err := tell(cmd, format, &found); err != nil {
		return err
	}
	damaged, backwards, repeated := report.Total(workload.Damaged), report.Count(workload.BackwardsSubmission), report.Count(workload.RepeatedNumber)
	if damaged > 0 || backwards > 0 || repeated > 0 {
		return fmt.Errorf("%s: %d damaged, %d out of order, %d with a number given before", t.Name, damaged, backwards, repeated)
	}
	return nil
}

func (c *checkedLog) writeTable(p page) error {
	text := fmt.Sprintf("%s: %v\n", c.Trace, c.report)
	if len(c.Findings) > 0 {
		text += "\n"
	}
	for _, f := range c.Findings {
		text += fmt.Sprintf("%s: %s\n", f.Class, f.Message)
	}
	return p.say("%s", text)
}

func (c *checkedLog) csvRows() [][]string {
	rows := [][]string{{"class", "reason", "line", "field", "text", "column"}}
	for _, f := range c.Findings {
		rows = append(rows, []string{f.Class, f.Reason, strconv.FormatInt(f.Line, 10), strconv.Itoa(f.Field), f.Text, f.Column})
	}
	return rows
}

package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/metrics/internal/grouped"
)

// Summary is what became of one run, a row of summary.csv. Times are in time
// units (seconds of a trace); see the package's text for the definitions.
type Summary struct {
	Policy              string  `csv:"policy" json:"policy"`
	Jobs                int     `csv:"jobs" json:"jobs"` // submitted, rejected ones included
	Killed              int     `csv:"killed" json:"killed"`
	Rejected            int     `csv:"rejected" json:"rejected"`
	Makespan            float64 `csv:"makespan" json:"makespan"`
	MeanWait            float64 `csv:"mean_wait" json:"mean_wait"`
	MedianWait          float64 `csv:"median_wait" json:"median_wait"`
	P95Wait             float64 `csv:"p95_wait" json:"p95_wait"`
	MaxWait             float64 `csv:"max_wait" json:"max_wait"`
	MeanBoundedSlowdown float64 `csv:"mean_bounded_slowdown" json:"mean_bounded_slowdown"`
	MeanTurnaround      float64 `csv:"mean_turnaround" json:"mean_turnaround"`
	Utilization         float64 `csv:"utilization" json:"utilization"` // 0 to 1
	Backfilled          int     `csv:"backfilled" json:"backfilled"`
	Rounds              int64   `csv:"rounds" json:"rounds"`
	Events              uint64  `csv:"events" json:"events"`
	// CPUSeconds is for whoever runs the simulation to fill in: a recorder
	// reads no clock.
	CPUSeconds float64 `csv:"cpu_seconds" json:"cpu_seconds"`
	// Waiting are the jobs that were left in the queue, or held a reservation
	// ahead, when the run ended.
	Waiting int `csv:"waiting" json:"waiting"`
}

// String is the summary as a table of one row, with its heading.
func (s Summary) String() string {
	var b strings.Builder
	_ = WriteSummaryTable(&b, []Summary{s}) // a Builder does not fail
	return b.String()
}

// WriteSummaryCSV writes summary.csv: a heading, and a row a policy.
func WriteSummaryCSV(w io.Writer, rows []Summary) error {
	if err := gocsv.Marshal(rows, w); err != nil {
		return fmt.Errorf("writing summaries as CSV: %w", err)
	}
	return nil
}

// WriteSummaryJSON writes the summaries as a JSON list of objects whose keys
// are the columns of summary.csv.
func WriteSummaryJSON(w io.Writer, rows []Summary) error {
	if rows == nil {
		rows = []Summary{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(rows); err != nil {
		return fmt.Errorf("writing summaries as JSON: %w", err)
	}
	return nil
}

// summaryColumns are those of the table for people: the counts of rounds and
// events are left to the files.
var summaryColumns = []column[Summary]{
	{"policy", func(s Summary) string { return s.Policy }},
	{"jobs", func(s Summary) string { return grouped.Int(s.Jobs) }},
	{"killed", func(s Summary) string { return grouped.Int(s.Killed) }},
	{"rejected", func(s Summary) string { return grouped.Int(s.Rejected) }},
	{"makespan", func(s Summary) string { return Clock(s.Makespan) }},
	{"mean wait", func(s Summary) string { return Clock(s.MeanWait) }},
	{"median", func(s Summary) string { return Clock(s.MedianWait) }},
	{"p95", func(s Summary) string { return Clock(s.P95Wait) }},
	{"max wait", func(s Summary) string { return Clock(s.MaxWait) }},
	{"slowdown", func(s Summary) string { return strconv.FormatFloat(s.MeanBoundedSlowdown, 'f', 2, 64) }},
	{"util %", func(s Summary) string { return strconv.FormatFloat(100*s.Utilization, 'f', 1, 64) }},
	{"backfilled", func(s Summary) string { return grouped.Int(s.Backfilled) }},
	{"cpu s", func(s Summary) string { return strconv.FormatFloat(s.CPUSeconds, 'f', 2, 64) }},
}

// WriteSummaryTable writes an aligned table for people, a row a policy. Times
// are days and h:mm:ss, below a minute seconds or milliseconds; slowdown is the
// mean bounded slowdown.
func WriteSummaryTable(w io.Writer, rows []Summary) error {
	return writeTable(w, summaryColumns, rows)
}

// column is a column of a table for people.
type column[T any] struct {
	title string
	cell  func(T) string
}

// writeTable writes an aligned table: the first column to the left, the others to
// the right.
func writeTable[T any](w io.Writer, columns []column[T], rows []T) error {
	width := make([]int, len(columns))
	table := make([][]string, 1+len(rows))
	for c, column := range columns {
		table[0] = append(table[0], column.title)
		for i, s := range rows {
			table[i+1] = append(table[i+1], column.cell(s))
		}
		for _, row := range table {
			width[c] = max(width[c], utf8.RuneCountInString(row[c]))
		}
	}
	var b strings.Builder
	for _, row := range table {
		fmt.Fprintf(&b, "%-*s", width[0], row[0])
		for c := 1; c < len(row); c++ {
			fmt.Fprintf(&b, "  %*s", width[c], row[c])
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Clock is a duration of so many seconds: "12d 3:04:05" from a minute on, "12.3s"
// below, "3.6ms" below a tenth of a second. Milliseconds are rare among jobs. Most
// often they tell of a time that was given without its unit, in ticks.
func Clock(seconds float64) string {
	if seconds > 0 && seconds < 0.1 {
		return strconv.FormatFloat(1000*seconds, 'g', 3, 64) + "ms"
	}
	if seconds < 59.95 {
		return strconv.FormatFloat(seconds, 'f', 1, 64) + "s"
	}
	t := int64(seconds + 0.5)
	days := ""
	if d := t / 86400; d > 0 {
		days = grouped.Int(int(d)) + "d "
	}
	t %= 86400
	return fmt.Sprintf("%s%d:%02d:%02d", days, t/3600, t/60%60, t%60)
}

// Manifest is what manifest.json records of one call of the command: enough to
// repeat it, and to see whether the repetition did the same.
type Manifest struct {
	// Version is that of gridslot, and Program the module, with its version, of a program
	// in which gridslot is a library; "" of the command.
	Version string    `json:"version"`
	Program string    `json:"program,omitempty"`
	Command []string  `json:"command"`
	Seed    uint64    `json:"seed"`
	Trace   TraceFile `json:"trace"`
	// Dropped and Changed count what the reader left out and altered, by reason.
	Dropped []ReasonCount `json:"dropped"`
	Changed []ReasonCount `json:"changed"`
	// Noted is what else should be known: job numbers that are given twice.
	Noted    []ReasonCount     `json:"noted,omitempty"`
	Settings map[string]string `json:"settings"` // written in order of key
	Runs     []ManifestRun     `json:"runs"`
	Start    time.Time         `json:"start"` // wall clock
	End      time.Time         `json:"end"`
	// Stopped says why the work ended early; empty where it did not.
	Stopped string `json:"stopped,omitempty"`
}

// TraceFile names a workload by its content.
type TraceFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // in hexadecimal
	// UnixStart is when the time 0 of the simulation was, in seconds since 1970, and
	// TimeZone where ("Europe/Stockholm"), as far as the header of a log tells.
	UnixStart int64  `json:"unix_start_time,omitempty"`
	TimeZone  string `json:"time_zone,omitempty"`
}

// ReasonCount is how often something was done, and why.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// ManifestRun is one policy's run.
type ManifestRun struct {
	Policy      string `json:"policy"`
	Fingerprint string `json:"fingerprint"` // des.Simulator.Fingerprint in hexadecimal
	// Files are the names of the files of this run.
	Files []string `json:"files,omitempty"`
}

// Write writes the manifest as JSON.
func (m *Manifest) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return nil
}

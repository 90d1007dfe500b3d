package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/gridslot/gridslot/metrics/internal/printed"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Summary is the result of one run, a row of summary.csv. Times are in time units (seconds of a
// trace); see the package's text for the definitions.
type Summary = rows.Summary

// writeSummaryCSV writes summary.csv: a heading, and a row for each policy.
func writeSummaryCSV(w io.Writer, all []Summary) error {
	lines := make([]rows.SummaryRow, len(all))
	for i, s := range all {
		lines[i].Summary = s
	}
	return rows.WriteAll(w, rows.Summaries.Only(), lines)
}

// Clock formats a duration in seconds for people: "12d 3:04:05" from a minute on, "12.3s" below a
// minute, "3.6ms" below a tenth of a second.
func Clock(seconds float64) string { return printed.Clock(seconds) }

// Manifest is the content of manifest.json about one call of the command: enough to repeat the
// call, and to see whether the repetition gave the same results.
type Manifest struct {
	// Version is the version of gridslot. Program is the module, with its version, of a program
	// that uses gridslot as a library; "" for the command itself.
	Version string `json:"version"`
	Program string `json:"program,omitempty"`
	// Command is the command line, with the name of the program first.
	Command []string  `json:"command"`
	Seed    uint64    `json:"seed"`
	Trace   TraceFile `json:"trace"`
	// Dropped and Changed count what the reader left out and altered, by reason.
	Dropped []ReasonCount `json:"dropped"`
	Changed []ReasonCount `json:"changed"`
	// Noted counts findings that changed nothing, for example job numbers that are given twice.
	Noted    []ReasonCount     `json:"noted,omitempty"`
	Settings map[string]string `json:"settings"` // written in order of key
	Runs     []ManifestRun     `json:"runs"`
	Start    time.Time         `json:"start"` // wall clock
	End      time.Time         `json:"end"`
	// Gap is a sentence if even the policy nearest to the log waits far longer, or far shorter,
	// than the log says; empty otherwise.
	Gap string `json:"gap,omitempty"`
	// Stopped says why the work ended early; empty where it did not.
	Stopped string `json:"stopped,omitempty"`
}

// TraceFile names a workload by its content.
type TraceFile struct {
	Name string `json:"name"`
	// SHA256 is the hash of the file's bytes, in hexadecimal.
	SHA256 string `json:"sha256"`
	// UnixStart is when the time 0 of the simulation was, in seconds since 1970, and
	// TimeZone where ("Europe/Stockholm"), as far as the header of a log tells.
	UnixStart int64  `json:"unix_start_time,omitempty"`
	TimeZone  string `json:"time_zone,omitempty"`
}

// ReasonCount is a reason and the number of times that it was given.
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
	// Unbounded says why bounds that were asked for are missing in summary.csv.
	Unbounded string `json:"unbounded,omitempty"`
}

// write writes the manifest as JSON.
func (m *Manifest) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return nil
}

package swarm

// What is made of the files: a page, figures, stories, charts, events for viewers. Each tells
// what the rows tell.

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// printed: what simulate prints is what summary.csv says.
func printed(r *result) error {
	first, _, _ := strings.Cut(r.stdout, "\n\n") // tables follow
	got, err := csv.NewReader(strings.NewReader(first)).ReadAll()
	if err != nil || len(got) != len(r.runs)+1 {
		return fmt.Errorf("%d lines for %d policies: %v", len(got), len(r.runs), err)
	}
	for i, run := range r.runs {
		for k, column := range got[0] {
			if want := run.summary[column]; column != "cpu_seconds" && got[i+1][k] != want {
				return fmt.Errorf("%s: %s is %q, and %q in summary.csv", run.Policy, column, got[i+1][k], want)
			}
		}
	}
	return nil
}

var (
	pageMeta = regexp.MustCompile(`<script type="application/json" id="meta">(.*)</script>`)
	pageRun  = regexp.MustCompile(`<script type="text/plain" id="run-(\d+)">(.*)</script>`)
)

// pageStates are the numbers that the page has for states.
var pageStates = map[string]int64{"COMPLETED_SUCCESSFULLY": 0, "COMPLETED_WALLTIME_REACHED": 1, "COMPLETED_KILLED": 2, "RUNNING": 3, "SUBMITTED": 4, "REJECTED": 5}

// unpacked are the columns of a run, in millionths where they are times.
func unpacked(text []byte, layout []struct {
	Name    string
	Count   int
	Divisor int64
}) (map[string][]int64, error) {
	packed, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, err
	}
	gz, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(gz)
	if err != nil {
		return nil, err
	}
	columns := map[string][]int64{}
	for _, c := range layout {
		last := int64(0)
		for range c.Count {
			v, n := binary.Varint(all)
			if n <= 0 {
				return nil, fmt.Errorf("column %s is cut off", c.Name)
			}
			all, last = all[n:], last+v
			value := last
			if c.Divisor > 0 {
				value = last * (1e6 / c.Divisor)
			}
			columns[c.Name] = append(columns[c.Name], value)
		}
	}
	return columns, nil
}

// reported: a page can be made, which holds the jobs and the queue as the files have them.
func reported(r *result) error {
	page := filepath.Join(r.dir, "report.html")
	a, err := r.call("report", r.a, "-o", page)
	if err != nil {
		return err
	}
	if a.code != 0 {
		return fmt.Errorf("report: %s", a.message(r.dir))
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if bytes.Contains(text, []byte("NaN</td>")) {
		return errors.New("report: it shows NaN")
	}
	var meta struct {
		Runs []struct {
			Policy  string
			Columns []struct {
				Name    string
				Count   int
				Divisor int64
			}
		}
	}
	found, runs := pageMeta.FindSubmatch(text), pageRun.FindAllSubmatch(text, -1)
	if found == nil || json.Unmarshal(found[1], &meta) != nil || len(meta.Runs) != len(r.runs) || len(runs) != len(r.runs) {
		return fmt.Errorf("report: it shows %d runs of %d", len(runs), len(r.runs))
	}
	for i, run := range r.runs {
		c, err := unpacked(runs[i][2], meta.Runs[i].Columns)
		if err != nil {
			return fmt.Errorf("report: %s: %w", run.Policy, err)
		}
		if len(c["id"]) != len(run.jobs) {
			return fmt.Errorf("report: %s: it shows %d jobs of %d", run.Policy, len(c["id"]), len(run.jobs))
		}
		for k, j := range run.jobs {
			submit, start, finish := at(j, "submission_time"), at(j, "starting_time"), at(j, "finish_time")
			wait, ran := max(0, start-submit), finish-start
			if start < 0 || j["final_state"] == "REJECTED" {
				wait, ran = max(0, wait), -1
			}
			switch {
			case fmt.Sprint(c["id"][k]) != j["job_id"], c["submit"][k] != submit, c["wait"][k] != wait && start >= 0, ran >= 0 && c["run"][k] != ran, c["state"][k] != pageStates[j["final_state"]], fmt.Sprint(c["size"][k]) != j["requested_number_of_resources"]:
				return fmt.Errorf("report: %s: it shows job %d submitted at %d, with a wait of %d, a run of %d, state %d, size %d; the row is %v", run.Policy, c["id"][k], c["submit"][k], c["wait"][k], c["run"][k], c["state"][k], c["size"][k], j)
			}
		}
		queue, _, err := r.of(run, "queue")
		if err != nil {
			return err
		}
		for k, q := range queue {
			if k >= len(c["time"]) || c["time"][k] != at(q, "time") || fmt.Sprint(c["busy"][k]) != q["busy_processors"] || fmt.Sprint(c["queued_jobs"][k]) != q["queued_jobs"] {
				return fmt.Errorf("report: %s: its queue is another one from row %d on", run.Policy, k+1)
			}
		}
	}
	return nil
}

// plotted: figures can be drawn, and are well formed.
func plotted(r *result) error {
	a, err := r.call("plot", r.a, "policies", "-o", filepath.Join(r.dir, "figures"))
	if err != nil {
		return err
	}
	if a.code != 0 && !strings.Contains(a.stderr, "cannot be drawn") {
		return fmt.Errorf("plot: %s", a.message(r.dir))
	}
	for path := range strings.FieldsSeq(a.stdout) {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		d := xml.NewDecoder(bytes.NewReader(text))
		for err == nil {
			_, err = d.Token()
		}
		if err != io.EOF || bytes.Contains(text, []byte("NaN")) {
			return fmt.Errorf("plot: %s is no picture: %v", filepath.Base(path), err)
		}
	}
	return nil
}

// explained: of each job its story can be told, which has the start of its row.
func explained(r *result) error {
	for i, j := range r.runs[0].jobs {
		if i > 3 {
			return nil
		}
		a, err := r.call("explain", r.a, j["job_id"], "--policy", r.runs[0].Policy)
		if err != nil {
			return err
		}
		if a.code != 0 {
			return fmt.Errorf("explain: job %s: %s", j["job_id"], a.message(r.dir))
		}
		if start := j["starting_time"]; start != "" && j["final_state"] != "REJECTED" && !strings.Contains(a.stdout, start+" s  ") {
			return fmt.Errorf("explain: job %s started at %s, and its story is %q", j["job_id"], start, a.stdout)
		}
	}
	return nil
}

// charted: a chart can be drawn as text.
func charted(r *result) error {
	a, err := r.call("explain", r.a)
	if err != nil {
		return err
	}
	if a.code != 0 && !strings.Contains(a.stderr, "allocation") && !strings.Contains(a.stderr, "nothing to draw") {
		return fmt.Errorf("explain: %s", a.message(r.dir))
	}
	return nil
}

// viewed: each attempt of a job is a slice of what viewers are given.
func viewed(r *result) error {
	for _, run := range r.runs {
		name := "perfetto-" + run.name + ".json"
		text, err := os.ReadFile(filepath.Join(r.a, name))
		if errors.Is(err, os.ErrNotExist) || r.kind == gridOf {
			continue
		}
		if err != nil {
			return err
		}
		var made struct {
			TraceEvents []struct {
				Ph, Cat string
				Ts, Dur int64
				Args    struct{ Job, Attempt int64 }
			}
		}
		if err := json.Unmarshal(text, &made); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		tries, ok, err := r.of(run, "attempts")
		if err != nil {
			return err
		}
		if !ok {
			tries = run.jobs
		}
		seen := map[string]int64{}
		for _, e := range made.TraceEvents {
			if e.Ph == "X" && e.Args.Job > 0 {
				key := fmt.Sprintf("%d at %d", e.Args.Job, e.Ts)
				seen[key] = max(seen[key], e.Dur)
			}
		}
		for _, a := range tries {
			from, to := at(a, "starting_time"), at(a, "finish_time")
			if from < 0 || to <= from || a["final_state"] == "REJECTED" {
				continue
			}
			if dur, ok := seen[fmt.Sprintf("%s at %d", a["job_id"], from)]; !ok || r.kind == cluster && dur != to-from {
				return fmt.Errorf("%s: job %s ran from %d to %d, and viewers see %d", name, a["job_id"], from, to, dur)
			}
		}
	}
	return nil
}

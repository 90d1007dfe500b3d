package simulation

// What stands beside the files of a run, so that the tools for results know them:
// summary.csv and manifest.json.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// describe adds the run to manifest.json and summary.csv of its folder. Runs of which these tell
// stay, if they are of the same workload under the same settings; otherwise the folder tells of
// this run alone.
func (s *RunSettings) describe(r *Result, began time.Time) error {
	path, table := filepath.Join(s.Dir, "manifest.json"), filepath.Join(s.Dir, "summary.csv")
	own := r.inManifest()
	m := newManifest(Options{}, s.Seed, s.Workload, s.values(), began)
	m.Runs = []metrics.ManifestRun{own}
	summary := []metrics.Summary{r.Summary}
	// What is there already, if it is of the same workload under the same settings. A manifest that
	// cannot be read is replaced.
	var before metrics.Manifest
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading what is known of the folder: %w", err)
	}
	if err == nil && json.Unmarshal(text, &before) == nil && before.Trace == m.Trace && before.Seed == m.Seed && sameSettings(before.Settings, m.Settings) {
		m.Start = before.Start
		old, err := summaries(table)
		if err != nil {
			return err
		}
		// An earlier run of the same policy is replaced; the new one stands last.
		isOwn := func(name string) bool { return name == own.Policy }
		m.Runs = append(slices.DeleteFunc(before.Runs, func(b metrics.ManifestRun) bool { return isOwn(b.Policy) }), own)
		summary = append(slices.DeleteFunc(old, func(b metrics.Summary) bool { return isOwn(b.Policy) }), r.Summary)
	}
	var policies []string
	for _, run := range m.Runs {
		policies = append(policies, run.Policy)
	}
	m.Settings["policy"] = strings.Join(policies, ",")
	m.End = time.Now()
	if err := metrics.WriteSummaryFile(table, summary); err != nil {
		return err
	}
	return m.WriteFile(path)
}

// values returns the settings by the names of the command's flags, as a manifest has them.
func (s *RunSettings) values() map[string]string {
	v := map[string]string{
		"machine": "cluster", "procs": strconv.Itoa(s.Processors), "pass": s.Pass.String(), "overrun": s.Overrun.String(),
		"allocation": s.Allocation.String(), "seed": strconv.FormatUint(s.Seed, 10), "warmup": s.Warmup.String(), "tau": "",
	}
	if s.Tau != 0 {
		v["tau"] = s.Tau.String()
	}
	tellReplication(v, s.Replication)
	return v
}

// sameSettings compares settings without the policies.
func sameSettings(a, b map[string]string) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, "policy")
	delete(b, "policy")
	return maps.Equal(a, b)
}

// summaries returns the rows of a summary.csv; none if there is no such file.
func summaries(path string) (all []metrics.Summary, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is known of the folder: %w", err)
	}
	found, err := rows.Read(path, string(text), rows.Summaries)
	if err != nil {
		return nil, fmt.Errorf("the file is not the summary of a simulation: %w", err)
	}
	for _, s := range found {
		all = append(all, s.Summary)
	}
	return all, nil
}

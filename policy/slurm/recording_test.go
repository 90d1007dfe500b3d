package slurm_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// recordings is the folder of what real controllers did, or skips the test.
func recordings(t *testing.T) string {
	dir := os.Getenv("GRIDSLOT_RECORDINGS")
	if dir == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: no recordings of Slurm to hold this to")
	}
	return filepath.Join(dir, "slurm")
}

// play is the rows of slurm-events.csv for a recording's folder.
func play(t *testing.T, dir string) []row {
	in, err := replay.ReadFolder(dir)
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m, err := replay.NewMachine(sim, in)
	require.NoError(t, err)
	var text strings.Builder
	w := replay.NewEventWriter(&text, in.Plain)
	m.Tell, m.Until = w.Tell, replay.RecordingEnds
	m.Begin()
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	return rows(t, text.String())
}

// row is a row of events by its columns.
type row map[string]string

func rows(t *testing.T, text string) []row {
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	var rows []row
	for _, cells := range all[1:] {
		r := row{}
		for i, cell := range cells {
			r[all[0][i]] = cell
		}
		rows = append(rows, r)
	}
	return rows
}

// TestRecordings holds every start (its second, nodes, cores, partition and priority, and which
// loop made it), every end, every stop and every refusal to what an unmodified slurmctld did with the same
// jobs, and then everything else that happened and its order.
func TestRecordings(t *testing.T) {
	root := recordings(t)
	var folders []string
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern, "slurm.conf"))
		require.NoError(t, err)
		for _, conf := range found {
			folder, err := filepath.Rel(root, filepath.Dir(conf))
			require.NoError(t, err)
			folders = append(folders, filepath.ToSlash(folder))
		}
	}
	require.Greater(t, len(folders), 40)
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, folder, "events.1.csv"))
			require.NoError(t, err)
			want, got := rows(t, string(text)), play(t, filepath.Join(root, folder))
			wrong := compare(want, got)
			if len(wrong) > 0 {
				t.Fatalf("%d differ; the first:\n%s", len(wrong), strings.Join(wrong[:min(3, len(wrong))], "\n"))
			}
			equal(t, want, got)
		})
	}
}

// equal holds all rows to those of a recording.
func equal(t *testing.T, want, got []row) {
	for i := range min(len(want), len(got)) {
		if want[i]["by"] == "either" {
			got[i]["by"] = "either"
		}
		require.Equal(t, want[i], got[i], "row %d", i+2)
	}
	require.Len(t, got, len(want))
}

// told is what is compared of a row.
func told(r row, columns ...string) string {
	var b strings.Builder
	for _, column := range columns {
		fmt.Fprintf(&b, "%s=%s ", column, r[column])
	}
	return b.String()
}

// compare is how starts, ends, stops and refusals differ from those of a recording, each with that of
// the same job.
func compare(want, got []row) []string {
	key := func(r row) string { return r["key"] + r["name"] + " " + r["event"] }
	counts := func(r row) bool {
		return r["event"] == "start" || r["event"] == "end" || r["event"] == "stop" || r["event"] == "submit" && r["detail"] != ""
	}
	have := map[string][]row{}
	for _, r := range got {
		if counts(r) {
			have[key(r)] = append(have[key(r)], r)
		}
	}
	var wrong []string
	for _, w := range want {
		if !counts(w) {
			continue
		}
		columns := []string{"time", "priority", "nodes", "partition", "cores", "by"}
		switch {
		case w["event"] != "start":
			columns = []string{"time", "detail"}
		case w["by"] == "either":
			columns = columns[:len(columns)-1]
		}
		r := row{}
		if same := have[key(w)]; len(same) > 0 {
			r, have[key(w)] = same[0], same[1:]
		}
		if is, wants := told(r, columns...), told(w, columns...); is != wants {
			wrong = append(wrong, fmt.Sprintf("%s: %s, want %s", key(w), is, wants))
		}
	}
	for _, rest := range have {
		for _, r := range rest {
			wrong = append(wrong, fmt.Sprintf("%s: %s is too much", key(r), told(r, "time", "nodes", "detail")))
		}
	}
	return wrong
}

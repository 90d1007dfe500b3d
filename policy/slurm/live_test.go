package slurm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// liveSeeds is the seeds of the set-ups that a live test plays: FIRST-LAST in GRIDSLOT_SLURM_SEEDS.
func liveSeeds(t *testing.T) (first, last int) {
	text := os.Getenv("GRIDSLOT_SLURM_SEEDS")
	if text == "" {
		return 1, 10
	}
	from, to, found := strings.Cut(text, "-")
	require.True(t, found, "GRIDSLOT_SLURM_SEEDS=%s: want FIRST-LAST", text)
	first, err := strconv.Atoi(from)
	require.NoError(t, err)
	last, err = strconv.Atoi(to)
	require.NoError(t, err)
	return first, last
}

// TestLiveController makes random set-ups, has an unmodified slurmctld play them, and holds every start, end,
// stop and refusal to what it did. GRIDSLOT_SLURM_ORACLE names a folder with the program record:
// `record DIR SEED` makes a set-up by chance from SEED, plays it, and leaves it in DIR with the files of a
// recording. Each difference is a rule that is missing here.
func TestLiveController(t *testing.T) {
	oracle := os.Getenv("GRIDSLOT_SLURM_ORACLE")
	if oracle == "" {
		t.Skip("GRIDSLOT_SLURM_ORACLE is not set: no folder with a program that has a real controller play set-ups")
	}
	record := filepath.Join(oracle, "record")
	if _, err := os.Stat(record); err != nil {
		t.Skip("GRIDSLOT_SLURM_ORACLE has no program record: ", err)
	}
	first, last := liveSeeds(t)
	equals, all := 0, 0
	for seed := first; seed <= last; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			dir := t.TempDir()
			if text, err := exec.Command(record, dir, strconv.Itoa(seed)).CombinedOutput(); err != nil {
				t.Fatalf("record %s %d: %v\n%s", dir, seed, err, text)
			}
			text, err := os.ReadFile(filepath.Join(dir, "events.1.csv"))
			require.NoError(t, err)
			want, got := rows(t, string(text)), play(t, dir)
			all++
			if wrong := compare(want, got); len(wrong) > 0 {
				t.Fatalf("%d of %d rows differ; the first:\n%s", len(wrong), len(want), wrong[0])
			}
			equal(t, want, got)
			equals++
		})
	}
	t.Logf("%d of %d set-ups are equal", equals, all)
}

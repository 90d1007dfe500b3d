package whatif_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/study/studytest"
	"github.com/gridslot/gridslot/metrics/findings"
)

var whole = flag.Bool("whole", false, "carry out the studies of slurm.conf whole, for minutes")

// withPartitions is a log in which partitions.awk has written partitions.
func withPartitions(t *testing.T, log string) []byte {
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip("there is no awk")
	}
	f, err := os.Open(log)
	require.NoError(t, err)
	defer f.Close()
	text, err := gzip.NewReader(f)
	require.NoError(t, err)
	var out bytes.Buffer
	c := exec.Command(awk, "-f", "partitions.awk")
	c.Stdin, c.Stdout = text, &out
	require.NoError(t, c.Run())
	return out.Bytes()
}

// differences carries a study out over a log and returns the differences from its baseline: a
// line a case, for each of its measures.
func differences(t *testing.T, text string, log []byte) (lines [][]string) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "slurm.conf"), []byte(read(t, "slurm.conf")), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kth.swf"), log, 0o666))
	found, _ := studytest.CarryOut(t, text, dir)
	for _, measure := range found.Options.Measures {
		grids, err := found.Grids(findings.Pivot{Measure: measure, Difference: true})
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, findings.Write(&b, grids, "markdown"))
		var cells []string
		for _, row := range regexp.MustCompile(`(?m)\| ([^|]* ± [^|]*) \|$`).FindAllStringSubmatch(b.String(), -1) {
			cells = append(cells, row[1])
		}
		lines = append(lines, cells)
	}
	return lines
}

func TestThePageHasTheStudyOfSlurm(t *testing.T) {
	page := read(t, "../what-if.md")
	require.Contains(t, page, "```yaml\n"+read(t, "phases.yaml")+"```\n")
	for line := range strings.Lines(read(t, "slurm.conf")) {
		if strings.HasPrefix(line, "PartitionName=") || strings.HasPrefix(line, "SchedulerParameters=") {
			require.Contains(t, page, "    "+line)
		}
	}
	zip := regexp.MustCompile(`(?s)zip:.*exact\]\n`)
	require.Equal(t, zip.FindString(read(t, "phases.yaml")), zip.FindString(read(t, "weeks.yaml")), "both have the same changes")
}

// On any log the studies have the comparisons of the page, and the changes change something.
func TestTheStudiesOfSlurmGoOnTheSample(t *testing.T) {
	log := withPartitions(t, "../../../traces/sample.swf.gz")
	log = bytes.Join(bytes.SplitAfterN(log, []byte("\n"), 251)[:250], nil)
	for _, c := range differences(t, read(t, "phases.yaml"), log) {
		require.Len(t, c, 3)
		require.NotEqual(t, c[0], c[1])
		require.NotEqual(t, c[1], c[2])
	}
}

// The rows of the page have the differences over phases and over weeks, first of the wait, then of
// the slowdown.
func TestTheTableOfSlurmIsThatOfTheStudies(t *testing.T) {
	path := filepath.Join(logs(t), "KTH-SP2-1996-2.1-cln.swf.gz")
	if !*whole {
		t.Skip("it takes minutes: -whole")
	}
	log := withPartitions(t, path)
	phases, weeks := differences(t, read(t, "phases.yaml"), log), differences(t, read(t, "weeks.yaml"), log)
	for i, change := range []string{"`bf_interval` 300", "shared nodes", "exact limits"} {
		row := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", change, phases[0][i], weeks[0][i], phases[1][i], weeks[1][i])
		require.Contains(t, read(t, "../what-if.md"), row)
	}
}

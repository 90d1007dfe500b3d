// Package whatif_test holds the page about a site's questions to what the study says.
package whatif_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/experiments/study/studytest"
	"github.com/gridslot/gridslot/metrics/findings"
)

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

func TestThePageHasTheFilesAsTheyAre(t *testing.T) {
	page := read(t, "../what-if.md")
	require.Contains(t, page, "```yaml\n"+read(t, "three.yaml")+"```\n")
	for _, row := range strings.SplitAfter(read(t, "maintenance.csv"), "\n")[:2] {
		require.Contains(t, page, "    "+row)
	}
}

// logs is the folder of the archive's logs.
func logs(t *testing.T) string {
	folder := os.Getenv("GRIDSLOT_TRACES")
	if folder == "" {
		t.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	folder, err := filepath.Abs(folder)
	require.NoError(t, err)
	return folder
}

func TestTheTableIsThatOfTheStudy(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "maintenance.csv"), []byte(read(t, "maintenance.csv")), 0o666))
	require.NoError(t, os.Symlink(filepath.Join(logs(t), "KTH-SP2-1996-2.1-cln.swf.gz"), filepath.Join(dir, "KTH-SP2-1996-2.1-cln.swf.gz")))
	found, _ := studytest.CarryOut(t, read(t, "three.yaml"), dir)
	grids, err := found.Grids(findings.Pivot{Difference: true})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, findings.Write(&b, grids, "markdown"))
	require.Contains(t, read(t, "../what-if.md"), strings.TrimSpace(b.String()))
}

func TestASchedulerThatDecidesEveryFiveMinutesHasTheMedianOfTheLog(t *testing.T) {
	log := filepath.Join(logs(t), "KTH-SP2-1996-2.1-cln.swf.gz")
	median := func(flags ...string) string {
		var stdout, stderr bytes.Buffer
		args := append([]string{"simulate", log, "--format", "csv"}, flags...)
		require.Zero(t, cli.Run(context.Background(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}), stderr.String())
		return strings.Split(strings.Split(stdout.String(), "\n")[1], ",")[6]
	}
	require.Equal(t, "300", median("--policy", "recorded"))
	require.Equal(t, "0", median("--policy", "easy"))
	require.Equal(t, "298", median("--policy", "easy", "--wake", "5m"))
}

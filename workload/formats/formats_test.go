package formats

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
)

// Every file of the folders of logs and references is read with a tally in which
// all lines are found again, or refused.
func TestEveryLineOfRealFilesIsAccountedFor(t *testing.T) {
	for _, variable := range []string{"GRIDSLOT_TRACES", "GRIDSLOT_REFERENCE"} {
		root := os.Getenv(variable)
		if root == "" {
			t.Run(variable, func(t *testing.T) { t.Skip(variable + " is not set: its files are not read") })
			continue
		}
		require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			t.Run(name, func(t *testing.T) { account(t, path) })
			return nil
		}))
	}
}

func account(t *testing.T, path string) {
	trace, err := workload.Options{Reading: workload.Reading{Formats: All()}, Part: workload.Part{Sort: true}}.Open(path)
	if err == nil {
		jobs, err := trace.Open()
		require.NoError(t, err)
		made := int64(0)
		for range jobs.Jobs() {
			made++
		}
		if err = jobs.Err(); err == nil {
			r := jobs.Report()
			require.Equal(t, made, r.Jobs)
			require.Equal(t, r.Lines, r.Jobs+r.Total(workload.Damaged)+r.Total(workload.LeftOut), "%v", r)
			require.Equal(t, dataLines(t, path, trace.Format), r.Lines, "%v", r)
			return
		}
		require.ErrorIs(t, err, workload.ErrNotSWF)
		require.NotContains(t, path, ".swf")
		return
	}
	require.ErrorContains(t, err, filepath.Base(path))
	require.NotContains(t, path, ".swf")
	require.NotContains(t, path, "sacct")
}

// dataLines counts the lines of a text that are neither blank, nor comments, nor a
// heading.
func dataLines(t *testing.T, path string, format workload.Format) int64 {
	raw, err := os.Open(path)
	require.NoError(t, err)
	defer raw.Close()
	text, err := workload.Decompress(raw)
	require.NoError(t, err)
	defer text.Close()
	all, err := io.ReadAll(text)
	require.NoError(t, err)
	n := int64(0)
	for line := range bytes.Lines(all) {
		if line := strings.TrimSpace(string(line)); line != "" && !strings.HasPrefix(line, ";") {
			n++
		}
	}
	if format != workload.Format(workload.SWF) {
		n-- // the heading
	}
	return n
}

// A log that is read in the wrong format never becomes an empty one.
func TestTheWrongFormatIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"accounting": "JobID|Submit|Start|NCPUS\n1|2024-01-31T10:00:00|None|4\n2|2024-01-31T10:00:00|None|4\n",
		"prose":      "This is a letter, not a log.\n\nIt tells, among other things, of the weather.\n",
		"json":       "[{\"a\": 1},\n{\"a\": 2}]\n",
		"numbers":    "1,2\n3,4\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		for _, format := range append(All(), workload.SWF, Google{Table: TaskEvents}, Alibaba{Table: PAITask}) {
			if name == "accounting" && format.Name() == "sacct" || name == "accounting" && format.Name() == "csv" {
				continue
			}
			trace, err := workload.Options{Reading: workload.Reading{Format: format}}.Open(path)
			if err == nil {
				r, closer, opened := trace.Records()
				require.NoError(t, opened)
				for r.Next() {
				}
				err = r.Err()
				require.NoError(t, closer.Close())
			}
			require.ErrorContains(t, err, name, "%s as %s", name, format.Name())
		}
	}
}

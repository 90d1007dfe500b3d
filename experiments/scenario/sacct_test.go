package scenario

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
)

func TestTheZoneOfAClusterSaysWhenItsJobsCame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, []byte("JobID,Submit,Start,ElapsedRaw,NCPUS\n1,2024-07-01T10:00:00,2024-07-01T10:00:05,60,4\n"), 0o666))
	tables := &Tables{Formats: Formats()}
	for from, want := range map[string]string{"": "1719828000", "sacct": "1719828000", "sacct:zone=Europe/London": "1719824400", "sacct:zone=UTC": "1719828000"} {
		trace, err := tables.OpenTrace(t.Context(), path, from, workload.Options{})
		require.NoError(t, err, from)
		require.Equal(t, "sacct", trace.Format.Name())
		require.Equal(t, want, trace.Header.Get("UnixStartTime"), from)
	}
	for _, from := range []string{"sacct:zone=Nowhere", "sacct:zone=", "sacct:zone=Local", "sacct:zone=../etc/passwd"} {
		_, err := tables.OpenTrace(t.Context(), path, from, workload.Options{})
		require.ErrorContains(t, err, "want a time zone that this system knows, as in Europe/London or UTC", from)
	}
}

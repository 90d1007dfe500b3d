package simulation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
)

func TestTheZoneOfAClusterSaysWhenItsJobsCame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, []byte("JobID,Submit,Start,ElapsedRaw,NCPUS\n1,2024-07-01T10:00:00,2024-07-01T10:00:05,60,4\n"), 0o666))
	tables := &Tables{Formats: formatTable()}
	for from, want := range map[string]string{"": "1719828000", "sacct": "1719828000", "sacct:zone=Europe/London": "1719824400", "sacct:zone=UTC": "1719828000"} {
		trace, err := tables.OpenTrace(t.Context(), path, from, workload.Options{})
		require.NoError(t, err, from)
		require.Equal(t, "sacct", trace.Format.Name())
		require.Equal(t, want, trace.Header.Get("UnixStartTime"), from)
	}
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	require.NoError(t, err)
	defer func(own *time.Location) { time.Local = own }(time.Local)
	time.Local = kolkata // as with TZ=Asia/Kolkata in the environment
	trace, err := tables.OpenTrace(t.Context(), path, "sacct:zone=Asia/Kolkata", workload.Options{})
	require.NoError(t, err)
	require.Equal(t, "1719808200", trace.Header.Get("UnixStartTime"))
	for _, from := range []string{"sacct:zone=Nowhere", "sacct:zone=", "sacct:zone=Local", "sacct:zone=../etc/passwd"} {
		_, err := tables.OpenTrace(t.Context(), path, from, workload.Options{})
		require.ErrorContains(t, err, "want a time zone that this system knows, as in Europe/London or UTC", from)
	}
}

package model_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

func TestJannFitsARealLog(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	trace, err := workload.OpenSWF(filepath.Join(dir, "KTH-SP2-1996-2.1-cln.swf.gz"))
	require.NoError(t, err)
	m, err := model.FitJann(trace.Jobs(), model.PowersOfTwo(100), 20)
	require.NoError(t, err)
	require.NoError(t, trace.Err())
	require.Len(t, m.Ranges, 8)
	require.NoError(t, m.Check())
	whole := 0
	for _, r := range m.Ranges {
		if r.GapMoments == 3 && r.RunMoments == 3 {
			whole++
		}
	}
	require.Equal(t, 8, whole, "ranges with all moments")
}

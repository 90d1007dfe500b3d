package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryLineOfARealLogIsAJobOrLeftOut(t *testing.T) {
	for _, name := range []string{"CEA-Curie-2011-2.1-cln", "KTH-SP2-1996-2.1-cln", "LLNL-Atlas-2006-2.1-cln", "UniLu-Gaia-2014-1", "HPC2N-2002-excerpt"} {
		trace, err := OpenSWF(realTrace(t, name))
		require.NoError(t, err)
		var n int64
		for range trace.Jobs() {
			n++
		}
		require.NoError(t, trace.Err())
		report := trace.Report()
		require.Equal(t, report.Jobs, n)
		require.Equal(t, report.Lines, report.Jobs+report.Total(Damaged)+report.Total(LeftOut), name)
	}
}

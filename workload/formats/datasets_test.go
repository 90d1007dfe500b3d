package formats_test

import (
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

func records(t require.TestingT, o workload.Options, path string) (*workload.Trace, []*workload.Record, *workload.Report) {
	trace, all, report, err := logtest.ReadFile(o, path)
	require.NoError(t, err)
	return trace, all, report
}

package validate

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
)

func TestOfACappedClusterNoMoreThanMayBeBusyAre(t *testing.T) {
	// 0 to 8: 3, and then 4, busy of 4; the fifth job wants 5 and is rejected.
	jobs, s := goodDay("easy")
	file := write(t, s, nil, jobs...)
	for busy, violations := range map[int]int{4: 0, 3: 2, 2: 3} {
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 4, Busy: &busy})
		require.NoError(t, err)
		require.Equal(t, violations, report.Total, "%d: %v", busy, report)
		for _, v := range report.Violations {
			require.Equal(t, OverCapacity, v.Kind, v)
		}
	}
}

func TestARejectionIsRightWhereNoShapeMayBeBusy(t *testing.T) {
	jobs, s := goodDay("easy")
	file := write(t, s, nil, jobs...)
	check := func(busy int) Report {
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 6, Busy: &busy})
		require.NoError(t, err)
		return report
	}
	require.Empty(t, check(4).Violations)
	require.Contains(t, check(5).String(), "job 5: missing: line 6: rejected, though it wants 5 of 5 processors")
	jobs[4].Shapes = []entity.Shape{{Nodes: 4, Length: sec, Runtime: sec}}
	require.Contains(t, check(4).String(), "job 5: missing: line 6: rejected, though it wants 4 of 4 processors")
}

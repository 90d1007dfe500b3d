package validate

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics/internal/naive"
)

// always is a curve of one value.
func always(busy int) *flow.Curve {
	return &flow.Curve{Times: []des.Time{0}, Values: []float64{float64(busy)}}
}

func TestOfACappedClusterNoMoreThanMayBeBusyAre(t *testing.T) {
	// 0 to 8: 3, and then 4, busy of 4; the fifth job wants 5 and is rejected.
	jobs, s := goodDay("easy")
	file := write(t, s, nil, jobs...)
	for busy, violations := range map[int]int{4: 0, 3: 2, 2: 3} {
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 4, Busy: always(busy)})
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
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 6, Busy: always(busy)})
		require.NoError(t, err)
		return report
	}
	require.Empty(t, check(4).Violations)
	require.Contains(t, check(5).String(), "job 5: missing: line 6: rejected, though it wants 5 of 5 processors")
	jobs[4].Shapes = []entity.Shape{{Nodes: 4, Length: sec, Runtime: sec}}
	require.Contains(t, check(4).String(), "job 5: missing: line 6: rejected, though it wants 4 of 4 processors")
}

// A cap that becomes lower is held to at the instant at which it does, and whoever ends at that
// instant has made room.
func TestAScheduleThatIsTooMuchOnlyWhereTheCapIsLowIsFound(t *testing.T) {
	jobs := []*entity.Job{job(1, 0, 2, 10*sec, 10*sec), job(2, 0, 1, 5*sec, 5*sec), job(3, 12*sec, 3, 4*sec, 4*sec)}
	file := write(t, &naive.Scheduler{Procs: 4, Policy: "easy"}, nil, jobs...)
	for _, x := range []struct {
		from, to  des.Time // over which 2 may be busy
		every     des.Time
		violation string
	}{
		{from: 5, to: 12}, {from: 10, to: 12}, {from: 16, to: 30}, {from: 6, to: 7},
		{from: 4, to: 12, violation: "at 4, job -1: over capacity: 3 processors are busy when the power cap becomes lower, and 2 may be"},
		{from: 4, to: 5, violation: "at 4, job -1: over capacity"},
		{from: 10, to: 13, violation: "at 12, job 3: over capacity: line 4: started on 3 processors; 2 of 2 may be busy besides"},
		{from: 15, to: 16, violation: "at 15, job -1: over capacity"},
		{from: 5, to: 6, every: 20}, {from: 5, to: 6, every: 9, violation: "at 14, job -1: over capacity"},
	} {
		busy := &flow.Curve{Times: []des.Time{0, x.from * sec, x.to * sec}, Values: []float64{4, 2, 4}, Every: x.every * sec}
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 4, Busy: busy})
		require.NoError(t, err)
		if x.violation == "" {
			require.Empty(t, report.Violations, "%v", x)
			continue
		}
		require.Equal(t, 1, report.Total, "%v: %v", x, report)
		require.Contains(t, report.String(), x.violation)
	}
}

// A job may be rejected that the cap never lets run for as long as it asks for.
func TestARejectionIsRightWhereTheCapIsNeverHighForLongEnough(t *testing.T) {
	jobs, s := goodDay("easy") // the fifth wants 5 for 1 s
	jobs[4].Request.Length, jobs[4].Runtime = 10*sec, 10*sec
	file := write(t, s, nil, jobs...)
	for _, x := range []struct {
		high, every des.Time // 5 nodes may be busy for the time high of each period
		right       bool
	}{{9, 20, true}, {10, 20, false}, {30, 0, true}} {
		busy := &flow.Curve{Times: []des.Time{0, x.high * sec}, Values: []float64{5, 4}, Every: x.every * sec}
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 6, Busy: busy})
		require.NoError(t, err)
		require.Equal(t, x.right, !strings.Contains(report.String(), "job 5: missing: line 6: rejected, though it wants 5"), "%v: %v", x, report)
	}
}

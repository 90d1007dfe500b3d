package workload

import (
	"iter"
	"slices"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/stretchr/testify/require"
)

func arrivingAt(times ...des.Time) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		for i, t := range times {
			if !yield(&entity.Job{ID: int64(i), Submit: t * des.Second}) {
				return
			}
		}
	}
}

func TestTransformationsOfJobs(t *testing.T) {
	for name, c := range map[string]struct {
		seq  iter.Seq[*entity.Job]
		want []float64
	}{
		"first":          {First(arrivingAt(1, 2, 3), 2), []float64{1, 2}},
		"first of fewer": {First(arrivingAt(1), 2), []float64{1}},
		"first none":     {First(arrivingAt(1), 0), nil},
		"skip":           {Skip(arrivingAt(1, 2, 3), 2), []float64{3}},
		"shift":          {ShiftToZero(arrivingAt(5, 7, 7)), []float64{0, 2, 2}},
		"scale":          {ScaleArrivals(arrivingAt(5, 7, 8), 1.5), []float64{5, 8, 9.5}},
		"sort":           {SortBySubmission(arrivingAt(5, 1, 7)), []float64{1, 5, 7}},
		"composed":       {ShiftToZero(First(Skip(SortBySubmission(arrivingAt(5, 1, 7, 9)), 1), 2)), []float64{0, 2}},
	} {
		require.Equal(t, c.want, submits(slices.Collect(c.seq)), name)
		require.Equal(t, c.want, submits(slices.Collect(c.seq)), "%s: every range begins anew", name)
		for range c.seq { // a consumer may stop at once
			break
		}
	}
}

func TestSortKeepsTheOrderOfEqualSubmissions(t *testing.T) {
	var ids []int64
	for j := range SortBySubmission(arrivingAt(2, 1, 2, 1)) {
		ids = append(ids, j.ID)
	}
	require.Equal(t, []int64{1, 3, 0, 2}, ids)
}

func TestSortKeepsRecordsApart(t *testing.T) {
	one := new(Record) // a source that hands out the same record again and again
	seq := func(yield func(*Record) bool) {
		for _, at := range []des.Time{3, 1, 2} {
			one.Submit = at
			if !yield(one) {
				return
			}
		}
	}
	var got []des.Time
	for rec := range SortBySubmission(iter.Seq[*Record](seq)) {
		got = append(got, rec.Submit)
	}
	require.Equal(t, []des.Time{1, 2, 3}, got)
}

func TestScalingCannotPassTheEndOfTime(t *testing.T) {
	jobs := slices.Collect(ScaleArrivals(arrivingAt(0, 1e12), 1e300))
	require.Positive(t, jobs[1].Submit)
}

package workload

import (
	"iter"
	"slices"
	"strings"
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
		"skip":           {choose(arrivingAt(1, 2, 3), selection{skip: 2, first: all, factor: 1}), []float64{3}},
		"shift":          {choose(arrivingAt(5, 7, 7), selection{first: all, factor: 1, shift: true}), []float64{0, 2, 2}},
		"scale":          {ScaleArrivals(arrivingAt(5, 7, 8), 1.5), []float64{5, 8, 9.5}},
		"sort":           {inOrder(arrivingAt(5, 1, 7)), []float64{1, 5, 7}},
		"composed":       {choose(inOrder(arrivingAt(5, 1, 7, 9)), selection{skip: 1, first: 2, factor: 1, shift: true}), []float64{0, 2}},
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
	for j := range inOrder(arrivingAt(2, 1, 2, 1)) {
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
	for rec := range inOrder(iter.Seq[*Record](seq)) {
		got = append(got, rec.Submit)
	}
	require.Equal(t, []des.Time{1, 2, 3}, got)
}

func TestScalingCannotPassTheEndOfTime(t *testing.T) {
	jobs := slices.Collect(ScaleArrivals(arrivingAt(0, 1e12), 1e300))
	require.Positive(t, jobs[1].Submit)
}

func TestRecordsAndJobsOfATraceAreSelectedAlike(t *testing.T) {
	lines := tenJobs()
	lines[2], lines[7] = lines[7], lines[2]
	for _, o := range []Options{
		{Part: Part{Sort: true}}, {Part: Part{Sort: true, Skip: 3}}, {Part: Part{Sort: true, First: 4}}, {Part: Part{Sort: true, Skip: 2, First: 5, Shift: true}},
		{Part: Part{Sort: true, Load: 0.3}}, {Part: Part{Sort: true, Load: 2, Skip: 1, First: 8, Shift: true}}, {Part: Part{Skip: 8}}, {Part: Part{First: 2, Load: 0.5}},
	} {
		trace := fromText(t, o, lines...)
		var records []float64
		for rec, err := range trace.Selected() {
			require.NoError(t, err)
			records = append(records, rec.Submit.Seconds())
		}
		require.Equal(t, submits(jobsOf(t, trace)), records, "%+v", o)
	}
}

func TestSelectedRecordsNeedNotMakeJobs(t *testing.T) {
	lines := []string{line(1, 100, -1, 10, 10, 9, 1), line(2, 110, 9, 10, 10, 9, 1), line(3, 120, 9, 11, 11, 9, 1), line(4, 200, 9, -1, -1, 9, 1)}
	var at []float64
	for rec, err := range fromText(t, Options{Part: Part{Load: 0.45}}, lines...).Selected() {
		require.NoError(t, err)
		at = append(at, rec.Submit.Seconds())
	}
	// The second record alone offers a load: 90 of 1,000 processor seconds.
	require.Equal(t, []float64{100, 102, 104, 120}, at)
}

func TestSelectedEndsWithTheErrorOfTheReading(t *testing.T) {
	for _, o := range []Options{{Reading: Reading{Strict: true}}, {Reading: Reading{Strict: true}, Part: Part{Load: 0.5}}, {Reading: Reading{Strict: true}, Part: Part{Sort: true}}} {
		trace := fromText(t, o, line(1, 0, 9, 1, 1, 9, 1), line(2, 9, 9, 1, 1, 9, 1), "1 2 3")
		var last error
		for _, err := range trace.Selected() {
			require.NoError(t, last, "nothing follows an error")
			last = err
		}
		var damage *lineError
		require.ErrorAs(t, last, &damage, "%+v", o)
	}
	for _, err := range fromText(t, Options{Part: Part{Load: 0.5}}, line(1, 0, 9, 1, 1, 9, 1)).Selected() {
		require.ErrorContains(t, err, "cannot be scaled")
	}
}

func TestALoadThatLeadsPastTheEndOfTimeIsRefused(t *testing.T) {
	log := "; MaxProcs: 10\n1 0 -1 100 10 -1 -1 10 100 -1 1 1 1 1 1 1 -1 -1\n2 100 -1 100 10 -1 -1 10 100 -1 1 1 1 1 1 1 -1 -1\n"
	for _, load := range []float64{1e-300, 1.9e-10} {
		trace, err := Options{Part: Part{Load: load}, Reading: Reading{Stdin: strings.NewReader(log)}}.Open(StandardInput)
		require.NoError(t, err)
		_, err = trace.Open()
		require.ErrorContains(t, err, "the last job would come more than 1e+12 seconds after the first")
		for _, err := range trace.Selected() {
			require.ErrorContains(t, err, "the last job would come more than 1e+12 seconds after the first")
			break
		}
	}
	trace, err := Options{Part: Part{Load: 2.1e-10}, Reading: Reading{Stdin: strings.NewReader(log)}}.Open(StandardInput)
	require.NoError(t, err)
	jobs, err := trace.Open()
	require.NoError(t, err)
	require.NoError(t, jobs.Close())
}

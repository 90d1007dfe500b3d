package metrics

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gocarina/gocsv"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func TestAJobInPiecesIsMeasuredByTheLongest(t *testing.T) {
	for _, c := range []struct {
		pieces  []des.Time
		ran     des.Time
		bounded float64
	}{
		{[]des.Time{0, 0}, 0, 10},
		{[]des.Time{0, 5}, 5, 10},
		{[]des.Time{40, 50}, 50, 2},
	} {
		rec, out := NewRecorder(), &bytes.Buffer{}
		w := NewJobsWriter(out)
		w.Allocation = AllocationNone
		r := entity.NewRun(&entity.Job{ID: 1, Request: entity.Request{Nodes: len(c.pieces), Length: 60 * des.Second}}, 0)
		tell := func(at des.Time, kind entity.JobEventKind) {
			for _, o := range []entity.Observer{rec, w} {
				o.Observe(entity.JobEvent{Time: at * des.Second, Kind: kind, Run: r})
			}
		}
		tell(0, entity.JobSubmitted)
		r.State = entity.Running
		tell(0, entity.JobStarted)
		for i, piece := range c.pieces {
			start := des.Time(i) * 50 * des.Second
			r.AddPart(entity.Part{Speed: 1, Attempt: entity.Attempt{Window: entity.Window{Nodes: 1}, Start: start, End: start + piece*des.Second}})
		}
		r.State, r.Finish = entity.Finished, 100*des.Second
		tell(100, entity.JobFinished)
		require.NoError(t, w.Close())
		require.Equal(t, c.ran*des.Second, r.Ran())
		require.Equal(t, c.bounded, rec.Summary().MeanBoundedSlowdown)
		rows, err := gocsv.CSVToMaps(out)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(c.bounded), rows[0]["bounded_slowdown"])
	}
}

// Of two pieces the first was stopped: 30 s were kept and 10 s lost, and 60 s behind a
// restart of 5 s ended it. The other one took 80 s.
func TestAPieceThatWasStoppedCountsWithAllOfItsWork(t *testing.T) {
	const s = des.Second
	r := entity.NewRun(&entity.Job{ID: 1, Request: entity.Request{Nodes: 2, Length: 100 * s}}, 0)
	for _, p := range []entity.Part{
		{Attempt: entity.Attempt{End: 40 * s, Kept: 30 * s, Work: 40 * s}},
		{Attempt: entity.Attempt{Start: 50 * s, End: 115 * s, Kept: 60 * s, Work: 60 * s, Overhead: 5 * s}, Again: true},
		{Attempt: entity.Attempt{End: 80 * s, Kept: 80 * s, Work: 80 * s}},
	} {
		p.Window.Nodes, p.Speed = 1, 1
		r.AddPart(p)
	}
	require.Equal(t, 90*s, r.Ran())
}

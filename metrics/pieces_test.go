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

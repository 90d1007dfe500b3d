package metrics_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
)

// A job that takes no time ends before another one at the same instant. Its place is known
// only when the instant is over, and its row stays the first.
func TestAttemptsOfOneInstantStayInTheirOrderWhileTheyAreHeld(t *testing.T) {
	var out bytes.Buffer
	w := metrics.NewAttemptsWriter(&out)
	w.Hold = true
	for i, start := range []des.Time{10 * des.Second, 0} {
		r := entity.NewRun(&entity.Job{ID: int64(i + 1), Request: entity.Request{Nodes: 1}}, int64(i))
		r.State, r.Start, r.Finish = entity.Finished, start, 10*des.Second
		r.Reservation.Window = entity.Window{Start: start, End: r.Finish, Nodes: 1}
		w.Observe(entity.JobEvent{Time: r.Finish, Kind: entity.JobFinished, Run: r})
	}
	w.InstantOver(10 * des.Second)
	require.NoError(t, w.Close())
	rows := strings.Split(out.String(), "\n")
	require.True(t, strings.HasPrefix(rows[1], "1,1,10,10,"), out.String())
	require.True(t, strings.HasPrefix(rows[2], "2,1,0,10,"), out.String())
}

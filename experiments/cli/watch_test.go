package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
)

// looking compares what is watched with what the metascheduler knows, after every event.
type looking struct {
	t    *testing.T
	meta *entity.Metascheduler
	run  *watched
	most int64
}

func (l *looking) Attach(m *entity.Metascheduler) { l.meta = m }
func (l *looking) Observe(entity.JobEvent)        {}

func (l *looking) Decided(r *entity.Round) {
	require.Equal(l.t, int64(r.Queue.Len()), l.run.queue.Load())
	require.GreaterOrEqual(l.t, int64(r.Now), l.run.clock.Load())
	busy := int64(0)
	for j := range r.Running() {
		busy += int64(j.Request.Nodes)
	}
	require.Equal(l.t, busy, l.run.busy.Load())
	l.most = max(l.most, busy)
}

func TestWhatIsWatchedIsWhatHappens(t *testing.T) {
	w := &watch{}
	sc := simulation.New()
	require.NoError(t, sc.Set("policy", "easy"))
	require.NoError(t, sc.Set("outages", "exponential:mtbf=5d:repair=4h"))
	var l *looking
	_, err := simulation.Run(context.Background(), sc, simulation.Options{Observers: func(policy, site string) []entity.Observer {
		all := w.observers(policy, site)
		l = &looking{t: t, run: all[0].(*watched)}
		return append(all, l)
	}})
	require.NoError(t, err)
	require.Positive(t, l.most)
	require.Zero(t, l.run.queue.Load())
	require.Zero(t, l.run.busy.Load())
	require.LessOrEqual(t, l.most, l.run.capacity.Load())
	progress := simulation.Progress{Total: 200, Done: func() int64 { return 50 }, Running: func() []string { return []string{"easy"} }}
	lines := w.lines(progress, 30*time.Second)
	require.Len(t, lines, 2)
	require.True(t, strings.HasPrefix(lines[0], "easy"))
	require.Contains(t, lines[0], "queue 0  utilization 0.0%")
	require.Contains(t, lines[1], "25% done, 1m30s left")
	progress.Running = func() []string { return nil }
	require.Len(t, w.lines(progress, time.Second), 1)
}

func TestWithoutATerminalThereIsNoLiveView(t *testing.T) {
	o := succeed(t, "simulate", "--policy", "easy", "--watch")
	require.Equal(t, call("simulate", "--policy", "easy").stderr, o.stderr)
	require.NotContains(t, o.stderr, "\x1b")
}

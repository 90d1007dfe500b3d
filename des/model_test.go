// The kernel against a model too simple to be wrong: a slice that is searched
// from end to end.
package des

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naiveEvent is a pending event of the model.
type naiveEvent struct {
	time  Time
	phase Phase
	seq   uint64
	arg   uint64
	id    EventID
}

func (a naiveEvent) before(b naiveEvent) bool {
	switch {
	case a.time != b.time:
		return a.time < b.time
	case a.phase != b.phase:
		return a.phase < b.phase
	}
	return a.seq < b.seq
}

// twin drives a simulator and its model side by side.
type twin struct {
	t       *rapid.T
	sim     *Simulator
	pending []naiveEvent
	stale   []EventID
	seq     uint64
	depth   int // of handlers
}

func (w *twin) earliest() int {
	least := 0
	for i := range w.pending {
		if w.pending[i].before(w.pending[least]) {
			least = i
		}
	}
	return least
}

func (w *twin) drop(i int) naiveEvent {
	e := w.pending[i]
	w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
	w.stale = append(w.stale, e.id)
	return e
}

func (w *twin) instant() Time {
	return w.sim.Now() + Time(rapid.IntRange(0, 20).Draw(w.t, "delay"))
}

func (w *twin) phase() Phase { return Phase(rapid.IntRange(0, 2).Draw(w.t, "phase")) }

func (w *twin) pick() int { return rapid.IntRange(0, len(w.pending)-1).Draw(w.t, "which") }

func (w *twin) schedule() {
	e := naiveEvent{time: w.instant(), phase: w.phase(), seq: w.seq, arg: w.seq}
	w.seq++
	e.id = w.sim.At(e.time, e.phase, w, e.arg)
	w.pending = append(w.pending, e)
}

func (w *twin) cancel() {
	if len(w.pending) > 0 {
		require.True(w.t, w.sim.Cancel(w.drop(w.pick()).id))
	}
}

// cancelMany leaves the heap to those who are dead.
func (w *twin) cancelMany() {
	for range rapid.IntRange(0, len(w.pending)).Draw(w.t, "victims") {
		w.cancel()
	}
}

func (w *twin) scheduleMany() {
	for range rapid.IntRange(0, 150).Draw(w.t, "births") {
		w.schedule()
	}
}

func (w *twin) useStale() {
	if len(w.stale) == 0 {
		return
	}
	id := rapid.SampledFrom(w.stale).Draw(w.t, "stale")
	require.False(w.t, w.sim.Cancel(id), "a stale ID cancels nothing")
	_, moved := w.sim.Reschedule(id, Forever-1, 0)
	require.False(w.t, moved, "a stale ID moves nothing")
}

func (w *twin) reschedule() {
	if len(w.pending) == 0 {
		return
	}
	e := w.drop(w.pick())
	old := e.id
	e.time, e.phase, e.seq = w.instant(), w.phase(), w.seq
	w.seq++
	var ok bool
	e.id, ok = w.sim.Reschedule(old, e.time, e.phase)
	require.True(w.t, ok)
	w.pending = append(w.pending, e)
}

func (w *twin) look() {
	want := Forever
	if len(w.pending) > 0 {
		want = w.pending[w.earliest()].time
	}
	require.Equal(w.t, want, w.sim.NextTime())
}

func (w *twin) step() {
	if w.depth > 0 {
		return // a handler does not run its own simulation
	}
	before := len(w.stale)
	ran, err := w.sim.Step()
	require.NoError(w.t, err)
	require.Equal(w.t, ran, len(w.stale) > before)
}

// Handle is told of the event that the kernel thinks is next, and does things
// of its own while the root of the heap is a hole.
func (w *twin) Handle(_ *Simulator, e Event) {
	want := w.drop(w.earliest())
	require.Equal(w.t, want.time, e.Time)
	require.Equal(w.t, want.phase, e.Phase)
	require.Equal(w.t, want.seq, e.Seq)
	require.Equal(w.t, want.arg, e.Arg)
	require.Equal(w.t, want.time, w.sim.Now())
	w.check()
	w.depth++
	defer func() { w.depth-- }()
	actions := []func(){w.schedule, w.cancel, w.cancelMany, w.reschedule, w.look, w.useStale}
	for range rapid.IntRange(0, 4).Draw(w.t, "actions in the handler") {
		actions[rapid.IntRange(0, len(actions)-1).Draw(w.t, "action")]()
		w.check()
	}
}

func (w *twin) check() {
	require.Equal(w.t, len(w.pending), w.sim.Pending())
	require.LessOrEqual(w.t, len(w.sim.heap.entries), 2*len(w.pending)+64)
}

func TestKernelAgreesWithASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &twin{t: t, sim: New(Config{})}
		t.Repeat(map[string]func(*rapid.T){
			"schedule":      func(*rapid.T) { w.schedule() },
			"schedule many": func(*rapid.T) { w.scheduleMany() },
			"cancel":        func(*rapid.T) { w.cancel() },
			"cancel many":   func(*rapid.T) { w.cancelMany() },
			"reschedule":    func(*rapid.T) { w.reschedule() },
			"look":          func(*rapid.T) { w.look() },
			"use stale":     func(*rapid.T) { w.useStale() },
			"step":          func(*rapid.T) { w.step() },
			"":              func(*rapid.T) { w.check() },
		})
		for len(w.pending) > 0 { // to the end, in order
			for i := len(w.pending); i > 60; i-- {
				w.cancel()
			}
			w.step()
		}
	})
}

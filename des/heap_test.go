// What the heap promises of size and speed, and what only the inside shows.
package des

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// idle is a handler that does nothing.
type idle struct{}

func (*idle) Handle(*Simulator, Event) {}

func TestAPendingEventTakes64BytesAtMost(t *testing.T) {
	const events = 1_000_000
	for _, n := range []int{events, events * 9 / 8, events * 5 / 4} { // wherever growth has left us
		sim, h := New(Config{}), &idle{}
		before := heapInUse()
		for i := range n {
			sim.At(Time(i), 0, h, 0)
		}
		perEvent := (heapInUse() - before) / float64(n)
		require.LessOrEqual(t, perEvent, 64.0)
		require.Equal(t, n, sim.Pending())
	}
}

func heapInUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func TestAnEventAllocatesNothing(t *testing.T) {
	k := newKernelHold(100)
	k.hold(1000)
	require.Zero(t, testing.AllocsPerRun(100, func() { k.hold(100) }))
}

func TestCancelAndRescheduleAllocateNothing(t *testing.T) {
	sim, h := New(Config{}), &idle{}
	use := func() {
		for i := range 200 {
			id := sim.After(Time(i), 0, h, 0)
			id, _ = sim.Reschedule(id, Time(2*i), 1)
			sim.Cancel(id)
		}
	}
	use()
	require.Zero(t, testing.AllocsPerRun(100, use))
}

func TestObserversAndFingerprintAllocateNothing(t *testing.T) {
	k := newKernelHold(100).(*kernelHold)
	k.sim.cfg.Fingerprint = true
	k.sim.Observe(&lastSeen{})
	k.hold(1000)
	require.Zero(t, testing.AllocsPerRun(100, func() { k.hold(100) }))
}

type lastSeen struct{ event Event }

func (l *lastSeen) ObserveEvent(e Event) { l.event = e }

// Cancelling only sweeps when it finds more dead than living; events that run
// make the living fewer, too.
func TestHeapStaysSmallWhenTheLivingRunAndTheDeadRemain(t *testing.T) {
	sim, h := New(Config{}), &idle{}
	for i := range 1000 {
		sim.At(Time(i), 0, h, 0)
	}
	var late []EventID
	for range 1000 {
		late = append(late, sim.At(Hour, 0, h, 0))
	}
	for _, id := range late {
		sim.Cancel(id)
	}
	for sim.Pending() > 0 {
		_, err := sim.Step()
		require.NoError(t, err)
		require.LessOrEqual(t, len(sim.heap.entries), 2*sim.Pending()+64)
	}
}

func TestSlotsAreUsedAgain(t *testing.T) {
	sim, h := New(Config{}), &idle{}
	for range 1000 {
		sim.Cancel(sim.After(Second, 0, h, 0))
	}
	require.Len(t, sim.heap.slots, 2)
}

// A slot whose generations have all been used would make the oldest ID look
// like a new one.
func TestASlotIsLeftAloneAfterItsLastGeneration(t *testing.T) {
	sim, h := New(Config{}), &idle{}
	first := sim.After(Second, 0, h, 0)
	sim.heap.slots[first.slot].gen = math.MaxUint32
	last := EventID{first.slot, math.MaxUint32}
	sim.heap.front.gen = math.MaxUint32
	require.True(t, sim.Cancel(last))
	require.NotEqual(t, first.slot, sim.After(Second, 0, h, 0).slot)
	require.False(t, sim.Cancel(EventID{first.slot, 0}))
}

func TestHandlersAreLetGo(t *testing.T) {
	sim := New(Config{})
	id := sim.After(Second, 0, &idle{}, 0)
	sim.Cancel(id)
	require.Nil(t, sim.heap.slots[id.slot].to, "a cancelled event keeps nothing alive")
	id = sim.After(Second, 0, &idle{}, 0)
	require.NoError(t, sim.Run(context.Background()))
	require.Nil(t, sim.heap.slots[id.slot].to, "nor does one that has run")
}

func TestCompactionKeepsTheHeapAHeap(t *testing.T) {
	rng := NewStream(1, 0, "compaction")
	for range 500 {
		sim, h := New(Config{}), &idle{}
		var ids []EventID
		for range 70 + rng.IntN(300) {
			ids = append(ids, sim.At(Time(rng.IntN(1000)), 0, h, 0))
		}
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		sim.Cancel(ids[0])
		for _, id := range ids[1:] {
			if sim.Cancel(id); sim.heap.dead == 0 {
				break // it has been compacted
			}
		}
		require.Zero(t, sim.heap.dead)
		for i := range sim.heap.entries[1:] {
			require.False(t, sim.heap.entries[i+1].before(&sim.heap.entries[i/heapArity]))
		}
	}
}

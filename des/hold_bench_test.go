// The hold model: N pending events, and every event that runs schedules one at
// now + Exp(1). It is the customary measure of event queues (Jones, CACM 29(4),
// 1986). The kernel is set beside heaps without any of its services.
package des

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/emirpasic/gods/queues/priorityqueue"
)

var holdSizes = []int{100, 10_000, 1_000_000}

// holder runs n holds.
type holder interface{ hold(n int) }

// contestant is a way to hold, made with n pending events.
type contestant struct {
	name string
	make func(n int) holder
}

// BenchmarkHold sets the kernel beside bare heaps and reports the ratios.
func BenchmarkHold(b *testing.B) {
	benchmarkHold(b, func(b *testing.B, ns []float64) {
		b.ReportMetric(ns[0]/ns[1], "x-binary")
		b.ReportMetric(ns[0]/ns[2], "x-4-ary")
	},
		contestant{"kernel", newKernelHold},
		contestant{"bare-binary", func(n int) holder { return newBareHold(n, binaryPush, binaryPop) }},
		contestant{"bare-4-ary", func(n int) holder { return newBareHold(n, quadPush, quadPop) }},
	)
}

// BenchmarkHoldOthers measures what one might use instead. It stands apart,
// since these make garbage, and whoever has pointers pays for its collection.
func BenchmarkHoldOthers(b *testing.B) {
	benchmarkHold(b, func(*testing.B, []float64) {},
		contestant{"container-heap", newContainerHold},
		contestant{"gods", newGodsHold},
		contestant{"closure", newClosureHold},
	)
}

// benchmarkHold has the contestants take turns of a millisecond or so and
// reports each one's median turn, so that whatever else the machine does falls
// on all alike.
func benchmarkHold(b *testing.B, report func(b *testing.B, ns []float64), contestants ...contestant) {
	const turn = 2000
	for _, n := range holdSizes {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			var holds []func()
			for _, c := range contestants {
				h := c.make(n)
				h.hold(n)
				holds = append(holds, func() { h.hold(turn) })
			}
			ns := MedianTurns(b, turn, holds...)
			for i, c := range contestants {
				b.ReportMetric(ns[i], "ns/"+c.name)
			}
			report(b, ns)
		})
	}
}

// MedianTurns has the contestants do their operations by turns and returns the
// median time each takes for one operation, in nanoseconds.
func MedianTurns(b *testing.B, operations int, contestants ...func()) []float64 {
	turns := make([][]float64, len(contestants))
	for b.Loop() {
		for i, do := range contestants {
			begin := time.Now()
			do()
			turns[i] = append(turns[i], float64(time.Since(begin).Nanoseconds())/float64(operations))
		}
	}
	b.ReportMetric(0, "ns/op") // of a round of turns: of no interest
	medians := make([]float64, len(contestants))
	for i, t := range turns {
		slices.Sort(t)
		medians[i] = t[len(t)/2]
	}
	return medians
}

func exponential(r *rand.Rand) Time { return Time(r.ExpFloat64() * float64(Second)) }

// kernelHold is the model on the kernel.
type kernelHold struct {
	sim  *Simulator
	rng  *rand.Rand
	left int
}

func newKernelHold(n int) holder {
	k := &kernelHold{sim: New(Config{}), rng: NewStream(1, 0, "hold")}
	for i := range n {
		k.sim.At(exponential(k.rng), 0, k, uint64(i))
	}
	return k
}

func (k *kernelHold) Handle(s *Simulator, e Event) {
	s.After(exponential(k.rng), 0, k, e.Arg)
	if k.left--; k.left == 0 {
		s.Stop()
	}
}

func (k *kernelHold) hold(n int) {
	k.left = n
	if err := k.sim.Run(context.Background()); err != nil {
		panic(err)
	}
}

// bareEvent is as large as the kernel's entry; ties go by sequence.
type bareEvent struct {
	time Time
	seq  uint64
	arg  uint64
}

func (a *bareEvent) before(b *bareEvent) bool {
	return a.time < b.time || (a.time == b.time && a.seq < b.seq)
}

// bareHold is the model on a hand-written heap and nothing else.
type bareHold struct {
	events []bareEvent
	seq    uint64
	rng    *rand.Rand
	push   func([]bareEvent, bareEvent) []bareEvent
	pop    func([]bareEvent) ([]bareEvent, bareEvent)
}

func newBareHold(n int, push func([]bareEvent, bareEvent) []bareEvent, pop func([]bareEvent) ([]bareEvent, bareEvent)) holder {
	h := &bareHold{rng: NewStream(1, 0, "hold"), push: push, pop: pop}
	for i := range n {
		h.events = push(h.events, bareEvent{exponential(h.rng), h.seq, uint64(i)})
		h.seq++
	}
	return h
}

func (h *bareHold) hold(n int) {
	var e bareEvent
	for range n {
		h.events, e = h.pop(h.events)
		h.events = h.push(h.events, bareEvent{e.time + exponential(h.rng), h.seq, e.arg})
		h.seq++
	}
}

func binaryPush(h []bareEvent, e bareEvent) []bareEvent {
	h = append(h, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	return h
}

func binaryPop(h []bareEvent) ([]bareEvent, bareEvent) {
	top, n := h[0], len(h)-1
	e := h[n]
	h = h[:n]
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&e) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if n > 0 {
		h[i] = e
	}
	return h, top
}

func quadPush(h []bareEvent, e bareEvent) []bareEvent {
	h = append(h, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	return h
}

func quadPop(h []bareEvent) ([]bareEvent, bareEvent) {
	top, n := h[0], len(h)-1
	e := h[n]
	h = h[:n]
	i := 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	if n > 0 {
		h[i] = e
	}
	return h, top
}

// containerHold is the model on the standard library's heap, which boxes every
// event in an interface.
type containerHold struct {
	events bareEvents
	seq    uint64
	rng    *rand.Rand
}

type bareEvents []bareEvent

func (h bareEvents) Len() int           { return len(h) }
func (h bareEvents) Less(i, j int) bool { return h[i].before(&h[j]) }
func (h bareEvents) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *bareEvents) Push(x any)        { *h = append(*h, x.(bareEvent)) }
func (h *bareEvents) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

func newContainerHold(n int) holder {
	h := &containerHold{rng: NewStream(1, 0, "hold")}
	for i := range n {
		heap.Push(&h.events, bareEvent{exponential(h.rng), h.seq, uint64(i)})
		h.seq++
	}
	return h
}

func (h *containerHold) hold(n int) {
	for range n {
		e := heap.Pop(&h.events).(bareEvent)
		heap.Push(&h.events, bareEvent{e.time + exponential(h.rng), h.seq, e.arg})
		h.seq++
	}
}

// godsHold is the model on the priority queue of gods.
type godsHold struct {
	queue *priorityqueue.Queue
	seq   uint64
	rng   *rand.Rand
}

func newGodsHold(n int) holder {
	h := &godsHold{rng: NewStream(1, 0, "hold"), queue: priorityqueue.NewWith(func(a, b any) int {
		x, y := a.(*bareEvent), b.(*bareEvent)
		if x.before(y) {
			return -1
		}
		if y.before(x) {
			return 1
		}
		return 0
	})}
	for i := range n {
		h.queue.Enqueue(&bareEvent{exponential(h.rng), h.seq, uint64(i)})
		h.seq++
	}
	return h
}

func (h *godsHold) hold(n int) {
	for range n {
		x, _ := h.queue.Dequeue()
		e := x.(*bareEvent)
		e.time += exponential(h.rng)
		e.seq = h.seq
		h.queue.Enqueue(e)
		h.seq++
	}
}

// closureHold is the model on the kernel with a fresh closure for every event.
type closureHold struct{ kernelHold }

func newClosureHold(n int) holder {
	k := &closureHold{kernelHold{sim: New(Config{}), rng: NewStream(1, 0, "hold")}}
	for i := range n {
		k.schedule(exponential(k.rng), uint64(i))
	}
	return k
}

func (k *closureHold) schedule(d Time, id uint64) {
	k.sim.After(d, 0, Func(func(s *Simulator, _ Event) {
		k.schedule(exponential(k.rng), id)
		if k.left--; k.left == 0 {
			s.Stop()
		}
	}), 0)
}

package metrics

// A belt has a writer's rows become text many at a time. The code that makes text is larger than
// the part of a processor that keeps code ready. If it ran for each row, between two events, both
// it and the code of the simulation would have to be fetched anew each time.
//
// With a processor to spare, rows become text beside the simulation: they are carried to another
// goroutine, which works them off in their order.
//
//	simulation   [row row row ...]  [row row ...]      put
//	                     |               |
//	belt                 +---> ... ----->+
//	                                     v
//	goroutine                         work(rows)

// belt works rows off in their order, a batch at a time, on a goroutine of its own or in put. A batch
// that has been worked off is used again.
type belt[T any] struct {
	work func(rows []T)
	// rows is the batch that put fills. Invariant: 0 <= len(rows) < cap(rows), the size of a batch.
	rows []T
	// batches wait to be worked off; it is nil without a goroutine. spare have been worked off, and
	// may be filled again.
	batches chan []T
	spare   chan []T
	// over is closed when the goroutine is done.
	over chan struct{}
}

// batchesAhead is the number of batches that may wait for the goroutine. More would only cost
// memory: if the goroutine is slower than the simulation, the simulation waits for it in any case.
const batchesAhead = 2

// newBelt returns a belt whose batches of size rows are worked off by work, on a goroutine that run
// begins; in put if run is nil.
func newBelt[T any](size int, run func(do func()), work func(rows []T)) *belt[T] {
	b := &belt[T]{work: work, rows: make([]T, 0, size)}
	if run == nil {
		return b
	}
	b.batches, b.spare, b.over = make(chan []T, batchesAhead), make(chan []T, batchesAhead+1), make(chan struct{})
	run(func() {
		defer close(b.over)
		for rows := range b.batches {
			b.work(rows)
			clear(rows) // what they point to is not to stay in memory
			select {
			case b.spare <- rows[:0]:
			default:
			}
		}
	})
	return b
}

// put adds a row, and hands the batch over if it is full.
func (b *belt[T]) put(row T) {
	if b.rows = append(b.rows, row); len(b.rows) == cap(b.rows) {
		b.send()
	}
}

// send hands the batch over, and waits if batchesAhead wait already.
func (b *belt[T]) send() {
	if b.batches == nil {
		b.work(b.rows)
		clear(b.rows)
		b.rows = b.rows[:0]
		return
	}
	size := cap(b.rows)
	b.batches <- b.rows
	select {
	case b.rows = <-b.spare:
	default:
		b.rows = make([]T, 0, size)
	}
}

// close waits until all rows have been worked off. Nothing can be put afterwards.
func (b *belt[T]) close() {
	b.send()
	if b.batches != nil {
		close(b.batches)
		<-b.over
	}
}

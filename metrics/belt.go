package metrics

// A belt has a writer's rows become text many at a time. The code that makes text is larger than
// the part of a processor that keeps code ready. If it ran for each row, between two events, both
// it and the code of the simulation would have to be fetched anew each time.
//
// With a processor to spare, rows become text beside the simulation: they are carried to another
// goroutine, which works them off in their order.
//
//	simulation   [row row row ...]  [row row ...]      empty, send
//	                     |               |
//	belt                 +---> ... ----->+
//	                                     v
//	goroutine                         work(batch)

// belt works batches off in order, on a goroutine of its own or in send. A batch that has been
// worked off is used again.
type belt[B any] struct {
	work func(*B)
	// batches wait to be worked off; it is nil without a goroutine. spare have been worked off, and
	// may be filled again.
	batches chan *B
	spare   chan *B
	// over is closed when the goroutine is done.
	over chan struct{}
}

// batchesAhead is the number of batches that may wait for the goroutine. More would only cost
// memory: if the goroutine is slower than the simulation, the simulation waits for it in any case.
const batchesAhead = 2

// newBelt returns a belt whose batches are worked off by work, on a goroutine that run begins; in
// send if run is nil.
func newBelt[B any](run func(do func()), work func(*B)) *belt[B] {
	b := &belt[B]{work: work, spare: make(chan *B, batchesAhead+1)}
	if run == nil {
		return b
	}
	b.batches, b.over = make(chan *B, batchesAhead), make(chan struct{})
	run(func() {
		defer close(b.over)
		for batch := range b.batches {
			b.workOff(batch)
		}
	})
	return b
}

// workOff works a batch off, and keeps it to be filled again.
func (b *belt[B]) workOff(batch *B) {
	b.work(batch)
	select {
	case b.spare <- batch:
	default:
	}
}

// empty returns a batch to be filled: a new one, or one that has been worked off, in the state in
// which work has left it.
func (b *belt[B]) empty() *B {
	select {
	case batch := <-b.spare:
		return batch
	default:
		return new(B)
	}
}

// send hands a batch over, and waits if batchesAhead wait already. The caller must not touch it
// again.
func (b *belt[B]) send(batch *B) {
	if b.batches == nil {
		b.workOff(batch)
		return
	}
	b.batches <- batch
}

// close waits until all batches have been worked off. Nothing can be sent afterwards.
func (b *belt[B]) close() {
	if b.batches != nil {
		close(b.batches)
		<-b.over
	}
}

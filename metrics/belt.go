package metrics

// A belt has a writer's rows become text beside the simulation: rows are carried, many
// at a time, to another goroutine, which works them off in their order.
//
//	simulation   [row row row ...]  [row row ...]      Rows, send
//	                     |               |
//	belt                 +---> ... ----->+
//	                                     v
//	goroutine                         work(batch)

// belt carries batches to one goroutine, which works them off in order. A batch that has been
// worked off is used again.
type belt[B any] struct {
	// batches wait to be worked off; spare have been, and may be filled again.
	batches chan *B
	spare   chan *B
	// over is closed when the goroutine is done.
	over chan struct{}
}

// batchesAhead is the number of batches that may wait for the goroutine. More would only cost
// memory: if the goroutine is slower than the simulation, the simulation waits for it in any case.
const batchesAhead = 2

// newBelt returns a belt whose batches are worked off by work, on a goroutine that run begins.
func newBelt[B any](run func(do func()), work func(*B)) *belt[B] {
	b := &belt[B]{make(chan *B, batchesAhead), make(chan *B, batchesAhead+1), make(chan struct{})}
	run(func() {
		defer close(b.over)
		for batch := range b.batches {
			work(batch)
			select {
			case b.spare <- batch:
			default:
			}
		}
	})
	return b
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
func (b *belt[B]) send(batch *B) { b.batches <- batch }

// close waits until all batches have been worked off. Nothing can be sent afterwards.
func (b *belt[B]) close() {
	close(b.batches)
	<-b.over
}

// Package belt has a writer's rows become text beside the simulation: rows are carried, many
// at a time, to another goroutine, which works them off in their order.
//
//	simulation   [row row row ...]  [row row ...]      Rows, Send
//	                     |               |
//	belt                 +---> ... ----->+
//	                                     v
//	goroutine                         work(batch)
package belt

// Belt carries batches to one goroutine. A batch that has been worked off is used again.
type Belt[B any] struct {
	batches chan *B
	spare   chan *B
	over    chan struct{}
}

// ahead is how many batches may wait. More would only cost memory: where the goroutine is the
// slower one the simulation waits for it in any case.
const ahead = 2

// New returns a belt whose batches are worked off by work, on a goroutine that run begins.
func New[B any](run func(do func()), work func(*B)) *Belt[B] {
	b := &Belt[B]{make(chan *B, ahead), make(chan *B, ahead+1), make(chan struct{})}
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

// Empty is a batch to be filled: a new one, or one that has been worked off and is as work has
// left it.
func (b *Belt[B]) Empty() *B {
	select {
	case batch := <-b.spare:
		return batch
	default:
		return new(B)
	}
}

// Send hands a batch over.
func (b *Belt[B]) Send(batch *B) { b.batches <- batch }

// Close waits until all batches have been worked off. Nothing can be sent afterwards.
func (b *Belt[B]) Close() {
	close(b.batches)
	<-b.over
}

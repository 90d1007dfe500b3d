package model

import (
	"cmp"

	"github.com/emirpasic/gods/trees/binaryheap"
)

// agenda hands out what is to come, the earliest first and, of what comes at one
// instant, what was put in first.
type agenda[T any] struct {
	entries *binaryheap.Heap // of entry[T]; nil before the first
	count   int64            // how many were put in so far
}

// entry is one thing to come. The order is by at, then by count.
type entry[T any] struct {
	at    float64 // in seconds
	count int64   // its number in the order of add, from 1
	what  T
}

// add puts in what comes at an instant.
func (a *agenda[T]) add(at float64, what T) {
	if a.entries == nil {
		a.entries = binaryheap.NewWith(func(x, y any) int {
			p, q := x.(entry[T]), y.(entry[T])
			return cmp.Or(cmp.Compare(p.at, q.at), cmp.Compare(p.count, q.count))
		})
	}
	a.count++
	a.entries.Push(entry[T]{at, a.count, what})
}

// next is the instant of the earliest, or false where there is none.
func (a *agenda[T]) next() (at float64, ok bool) {
	if a.entries == nil || a.entries.Empty() {
		return 0, false
	}
	first, _ := a.entries.Peek()
	return first.(entry[T]).at, true
}

// take takes the earliest out. There must be one.
func (a *agenda[T]) take() (at float64, what T) {
	first, _ := a.entries.Pop()
	e := first.(entry[T])
	return e.at, e.what
}

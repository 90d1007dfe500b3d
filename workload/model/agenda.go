package model

import "container/heap"

// agenda hands out what is to come, the earliest first and, of what comes at one
// instant, what was put in first.
type agenda[T any] struct {
	entries entries[T]
	count   int64
}

type entry[T any] struct {
	at    float64
	count int64
	what  T
}

func (a *agenda[T]) add(at float64, what T) {
	a.count++
	heap.Push(&a.entries, entry[T]{at, a.count, what})
}

// next is the instant of the earliest, or false where there is none.
func (a *agenda[T]) next() (at float64, ok bool) {
	if len(a.entries) == 0 {
		return 0, false
	}
	return a.entries[0].at, true
}

func (a *agenda[T]) take() (at float64, what T) {
	e := heap.Pop(&a.entries).(entry[T])
	return e.at, e.what
}

type entries[T any] []entry[T]

func (e entries[T]) Len() int { return len(e) }
func (e entries[T]) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].count < e[k].count
}
func (e entries[T]) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *entries[T]) Push(x any)   { *e = append(*e, x.(entry[T])) }
func (e *entries[T]) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = entry[T]{}
	*e = (*e)[:last]
	return x
}

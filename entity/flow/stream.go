package flow

import (
	"iter"

	"github.com/gridslot/gridslot/des"
)

// stream is the common part of the flows that take a sequence of happenings.
type stream[T any] struct{ feed des.Feed[T] }

// begin sets the items of feed, in place of the items that were to come.
func (s *stream[T]) begin(sim *des.Simulator, items iter.Seq[T], feed des.Feed[T]) {
	s.Close()
	s.feed = feed
	s.feed.From(items)
	s.feed.Begin(sim)
}

// Close drops the items to come. It is needed only where a run ended before they did.
func (s *stream[T]) Close() { s.feed.Close() }

// Coming reports whether anything is on its way.
func (s *stream[T]) Coming() bool { return s.feed.Coming() }

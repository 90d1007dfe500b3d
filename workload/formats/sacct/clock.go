package sacct

import (
	"math"
	"time"
)

// This file turns what a clock on the wall shows into instants.

// clock is a zone's, and remembers the stretch of time without a change of the clock
// that it was asked about last, since rows of a log lie close together.
type clock struct {
	zone     *time.Location
	from, to int64 // the shown times of that stretch that are shown once, in seconds
	offset   int64 // of that stretch, from UTC
}

// newClock is the clock of a zone; UTC if nil.
func newClock(zone *time.Location) clock {
	if zone == nil {
		zone = time.UTC
	}
	return clock{zone: zone, from: 1} // empty
}

// instant is the instant, in seconds since 1970, at which the clock shows a time, given
// as if it were UTC. Of two such instants it is the first that does not lie before
// another instant of the row, and of none the one it would be had the clock not
// been set yet.
//
// before and after are the offsets from UTC a day earlier and a day later, and first and second the
// instants at which clocks of these offsets show the time. If the clock is set in between:
//
//	forward, 1:59 -> 3:00   2:30 is never shown: neither first nor second shows it
//	back,    2:59 -> 2:00   2:30 is shown twice: at first, and an hour later at second
func (c *clock) instant(shown, notBefore int64) int64 {
	if c.from <= shown && shown < c.to {
		return shown - c.offset
	}
	const day = 24 * 60 * 60 // no zone is so far from UTC
	before, after := c.offsetAt(shown-day), c.offsetAt(shown+day)
	first, second := shown-before, shown-after
	switch {
	case before == after || c.offsetAt(first) == before && c.offsetAt(second) != after:
		c.remember(first)
		return first
	case c.offsetAt(first) == before: // shown twice
		if first < notBefore {
			return second
		}
		return first
	case c.offsetAt(second) == after:
		c.remember(second)
		return second
	}
	return first // never shown
}

// offsetAt returns the clock's offset from UTC at an instant, in seconds; above 0 to the east.
func (c *clock) offsetAt(instant int64) int64 {
	_, offset := time.Unix(instant, 0).In(c.zone).Zone()
	return int64(offset)
}

// remember takes note of the stretch around an instant: the shown times from the last change of the
// clock to the next, without those that the clock shows a second time beyond a change.
func (c *clock) remember(instant int64) {
	begin, end := time.Unix(instant, 0).In(c.zone).ZoneBounds()
	c.offset = c.offsetAt(instant)
	c.from, c.to = math.MinInt64, math.MaxInt64
	if !begin.IsZero() {
		c.from = begin.Unix() + max(c.offset, c.offsetAt(begin.Unix()-1))
	}
	if !end.IsZero() {
		c.to = end.Unix() + min(c.offset, c.offsetAt(end.Unix()))
	}
}

// show returns the time that the clock shows at an instant, and whether c.instant gives that
// instant back.
func (c *clock) show(instant int64) (shown int64, once bool) {
	shown = instant + c.offsetAt(instant)
	return shown, c.instant(shown, math.MinInt64) == instant
}

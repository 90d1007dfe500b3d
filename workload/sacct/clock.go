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

func (c *clock) offsetAt(instant int64) int64 {
	_, offset := time.Unix(instant, 0).In(c.zone).Zone()
	return int64(offset)
}

// remember takes note of the stretch around an instant.
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

// show is what the clock shows at an instant, and whether instant gives that instant back.
func (c *clock) show(instant int64) (shown int64, once bool) {
	shown = instant + c.offsetAt(instant)
	return shown, c.instant(shown, math.MinInt64) == instant
}

// seconds since 1970 of a date and time as if it were UTC.
func civil(year, month, day, hour, minute, second int64) int64 {
	// Years begin in March, so that the leap day is the last one (Hinnant,
	// "chrono-Compatible Low-Level Date Algorithms").
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	ofEra := year - era*400
	ofYear := (153*(month-3)+2)/5 + day - 1
	days := era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
	return days*86400 + hour*3600 + minute*60 + second
}

package table

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file reads what people write for instants, durations and states.

// absolute is the least number of an instant that is taken to count from 1970: it is the first
// second of 1990. No log counts from its start for twenty years, and none is older than 1990.
const absolute = 631_152_000 * des.Second

// units reads a time that is a number of units; a unit of 0 is a second.
func units(text []byte, unit des.Time) (des.Time, bool) {
	t, fault := number.InUnits(text, cmp.Or(unit, des.Second), workload.MaxTime)
	return t, fault == number.Sound
}

// mostClock bounds the days, hours and minutes of a clock, each by itself, so that their sum in
// minutes stays far within 64 bits. workload.MaxTime bounds the sum.
const mostClock = 1<<24 - 1

// duration reads a number of units, or a clock: [[D-]HH:]MM:SS[.F] as Slurm writes it, or
// "2 days 03:04:05" as Python and pandas do. A sign before a clock holds for all of it. Hours and
// minutes may be above 23 and 59: 100:00:00 is a clock.
func duration(text []byte, unit des.Time) (des.Time, bool) {
	if bytes.IndexByte(text, ':') < 0 {
		return units(text, unit)
	}
	text, negative := bytes.CutPrefix(text, []byte("-"))
	var days, minutes int64
	for _, sep := range [...]string{" days ", " day ", "-"} {
		if d, rest, ok := bytes.Cut(text, []byte(sep)); ok {
			n, fault := number.Count(d, mostClock)
			if fault != number.Sound {
				return 0, false
			}
			days, text = n, rest
			break
		}
	}
	for colons := 0; ; colons++ {
		p, rest, ok := bytes.Cut(text, []byte(":"))
		if !ok {
			break
		}
		n, fault := number.Count(p, mostClock)
		if fault != number.Sound || colons == 2 {
			return 0, false
		}
		minutes, text = minutes*60+n, rest
	}
	minutes += days * 24 * 60
	// What is left are the seconds, which may have a fraction but no sign.
	if len(text) == 0 || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	seconds, fault := number.Time(text, workload.MaxTime)
	t := des.Time(minutes)*60*des.Second + seconds
	if fault != number.Sound || t > workload.MaxTime {
		return 0, false
	}
	if negative {
		t = -t
	}
	return t, true
}

// instant reads a date (scan.Instant), which counts from 1970, or else a number of units, which
// counts from wherever the log does. A date has a - or / behind a digit at its fifth byte; a number
// has a sign only in front or behind an e.
func instant(text []byte, unit des.Time, zone *time.Location) (t des.Time, isDate, ok bool) {
	if len(text) < 8 || text[3] < '0' || text[3] > '9' || text[4] != '-' && text[4] != '/' {
		t, ok = units(text, unit)
		return t, false, ok
	}
	t, ok = scan.Instant(text, zone)
	return t, true, ok
}

// states are the beginnings of what batch systems call the ends of jobs, in lower case: Slurm's
// COMPLETED, TIMEOUT and "CANCELLED by 7", LSF's DONE, and others. The first that fits counts. SWF
// has no word for a job that reached its limit or lost a node; both have failed.
var states = []struct {
	text   string
	status int64
}{
	{"complet", workload.StatusCompleted}, {"succe", workload.StatusCompleted}, {"done", workload.StatusCompleted},
	{"finished", workload.StatusCompleted}, {"ok", workload.StatusCompleted},
	{"fail", workload.StatusFailed}, {"error", workload.StatusFailed}, {"timeout", workload.StatusFailed}, {"node_fail", workload.StatusFailed},
	{"out_of_me", workload.StatusFailed}, {"killed", workload.StatusFailed}, {"preempted", workload.StatusFailed},
	{"cancel", workload.StatusCancelled},
}

// status reads field 11 of SWF as a number, or a word for the end of a job. Other words, such as
// RUNNING, tell of no end, and the status is unknown.
func status(text []byte) int64 {
	if n, ok := number.Integer(text); ok {
		return n
	}
	word := strings.ToLower(string(text))
	for _, s := range states {
		if strings.HasPrefix(word, s.text) {
			return s.status
		}
	}
	return workload.Unknown
}

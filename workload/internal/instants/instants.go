// Package instants reads dates with a time of day, as logs have them.
package instants

import (
	"bytes"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// Parse reads "2021-04-01", or with slashes; behind a blank or a T as may be "12:30",
// "12:30:00" or "12:30:00.5"; and behind that Z, UTC, +09, +0900 or +09:00. What names no offset is
// shown by a clock at zone; nil is UTC. The result counts from 1970.
func Parse(text []byte, zone *time.Location) (at des.Time, ok bool) {
	if len(text) < 10 || text[4] != '-' && text[4] != '/' || text[7] != text[4] {
		return 0, false
	}
	year, a := digits(text[0:4])
	month, b := digits(text[5:7])
	day, c := digits(text[8:10])
	if !a || !b || !c || month < 1 || month > 12 || day < 1 || day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
		return 0, false
	}
	text = text[10:]
	var hour, minute, second int
	var fraction des.Time
	if len(text) > 0 {
		if len(text) < 6 || text[0] != 'T' && text[0] != ' ' || text[3] != ':' {
			return 0, false
		}
		hour, a = digits(text[1:3])
		minute, b = digits(text[4:6])
		text = text[6:]
		if len(text) >= 3 && text[0] == ':' {
			second, c = digits(text[1:3])
			text = text[3:]
		}
		if !a || !b || !c || hour > 23 || minute > 59 || second > 60 {
			return 0, false
		}
		if len(text) > 0 && text[0] == '.' {
			end := 1
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			fraction, _, a = workload.ParseTime(text[:end])
			if text = text[end:]; !a {
				return 0, false
			}
		}
	}
	ahead, given := offset(bytes.TrimPrefix(text, []byte(" ")))
	switch {
	case !given && len(text) > 0:
		return 0, false
	case given || zone == nil:
		zone = time.UTC
	}
	unix := time.Date(year, time.Month(month), day, hour, minute, second, 0, zone).Unix() - int64(ahead)
	return des.Time(unix)*des.Second + fraction, true
}

// offset is how far a clock is ahead of UTC, in seconds.
func offset(text []byte) (seconds int, ok bool) {
	switch {
	case string(text) == "Z" || string(text) == "UTC":
		return 0, true
	case len(text) < 3 || text[0] != '+' && text[0] != '-':
		return 0, false
	}
	hours, ok := digits(text[1:3])
	minutes := 0
	if rest := bytes.TrimPrefix(text[3:], []byte(":")); ok && len(text) > 3 {
		if minutes, ok = digits(rest); len(rest) != 2 {
			return 0, false
		}
	}
	seconds = (hours*60 + minutes) * 60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok && hours < 24 && minutes < 60
}

// digits reads a number of digits alone.
func digits(text []byte) (n int, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// At is the instant at which a clock on the wall at zone shows what one in UTC shows at an
// instant; both count from 1970.
func At(shown des.Time, zone *time.Location) des.Time {
	if zone == nil {
		return shown
	}
	t := time.UnixMicro(int64(shown)).UTC()
	return des.Time(time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone).UnixMicro())
}

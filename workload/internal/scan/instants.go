package scan

import (
	"bytes"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
)

// This file reads dates with a time of day, as logs have them.

// Instant reads "2021-04-01", or with slashes; behind a blank or a T as may be "12:30",
// "12:30:00" or "12:30:00.5"; and behind that Z, UTC, +09, +0900 or +09:00. What names no offset is
// shown by a clock at zone; nil is UTC. The result counts from 1970.
func Instant(text []byte, zone *time.Location) (at des.Time, ok bool) {
	if zone == nil || zone == time.UTC {
		if shown, isDate, ok := Shown(text); isDate {
			return des.Time(shown) * des.Second, ok
		}
	}
	// The day.
	if len(text) < 10 || text[4] != '-' && text[4] != '/' || text[7] != text[4] {
		return 0, false
	}
	year, a := allDigits(text[0:4])
	month, b := allDigits(text[5:7])
	day, c := allDigits(text[8:10])
	if !a || !b || !c || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	// The time of day, midnight if there is none. Second 60, a leap second, is the first of the next
	// minute.
	text = text[10:]
	var hour, minute, second int
	var fraction des.Time
	if len(text) > 0 {
		if len(text) < 6 || text[0] != 'T' && text[0] != ' ' || text[3] != ':' {
			return 0, false
		}
		hour, a = allDigits(text[1:3])
		minute, b = allDigits(text[4:6])
		text = text[6:]
		if len(text) >= 3 && text[0] == ':' {
			second, c = allDigits(text[1:3])
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
			var fault number.Fault
			fraction, fault = number.Time(text[:end], des.Second)
			if text = text[end:]; fault != number.Sound {
				return 0, false
			}
		}
	}
	// The offset from UTC, or else what the zone says of that day and time.
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

// Shown is the most usual of these, "2021-04-01 12:30:00", in seconds since 1970 as a clock in
// UTC shows it. What has that form is a date; ok is false where there is no such day or time.
func Shown(text []byte) (unix int64, isDate, ok bool) {
	if len(text) != len("2021-04-01 12:30:00") {
		return 0, false, false
	}
	year, month, day := two(text, 0)*100+two(text, 2), two(text, 5), two(text, 8)
	hour, minute, second := two(text, 11), two(text, 14), two(text, 17)
	if year|month|day|hour|minute|second < 0 || text[4] != '-' && text[4] != '/' || text[7] != text[4] || text[10] != 'T' && text[10] != ' ' || text[13] != ':' || text[16] != ':' {
		return 0, false, false
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 60 {
		return 0, true, false
	}
	return civil(year, month, day)*86400 + int64(hour*3600+minute*60+second), true, true
}

// two is the number of two digits, or negative.
func two(text []byte, at int) int {
	a, b := text[at]-'0', text[at+1]-'0'
	if a > 9 || b > 9 {
		return -1 << 20
	}
	return int(a)*10 + int(b)
}

// daysIn returns the number of days in a month, from 1, in the Gregorian calendar.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// civil is a day of the Gregorian calendar from the year 0 on, in days since 1970 (Hinnant,
// "chrono-Compatible Low-Level Date Algorithms").
func civil(year, month, day int) int64 {
	// Years begin in March, so that the leap day is the last one, and 400 years early, so that
	// none is negative.
	year += 400
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	ofEra := year - era*400
	ofYear := (153*(month-3)+2)/5 + day - 1
	return int64(era-1)*146097 + int64(ofEra*365+ofEra/4-ofEra/100+ofYear) - 719468
}

// offset returns a clock's offset from UTC in seconds, above 0 to the east; ok is false if the text
// is no offset.
func offset(text []byte) (seconds int, ok bool) {
	switch {
	case string(text) == "Z" || string(text) == "UTC":
		return 0, true
	case len(text) < 3 || text[0] != '+' && text[0] != '-':
		return 0, false
	}
	hours, ok := allDigits(text[1:3])
	minutes := 0
	if rest := bytes.TrimPrefix(text[3:], []byte(":")); ok && len(text) > 3 {
		if minutes, ok = allDigits(rest); len(rest) != 2 {
			return 0, false
		}
	}
	seconds = (hours*60 + minutes) * 60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok && hours < 24 && minutes < 60
}

// allDigits reads a number of digits alone.
func allDigits(text []byte) (n int, ok bool) {
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

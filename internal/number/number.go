// Package number reads the numbers and times of files and settings, so that all of them take the
// same texts for numbers:
//
//	number   = [sign] ( digits [ "." [digits] ] | "." digits ) [ exponent ]
//	exponent = ( "e" | "E" ) [sign] digits
//	sign     = "+" | "-"
//
// 1e3, 2.50, .5, 7. and +3 are numbers. 1_000 and 0x10 are numbers in Go alone, and are refused; so
// are inf and NaN, which are no values of anything that is read here, and 1:30, which is a clock: a
// format that has clocks reads them itself.
//
//	kind    text          value
//	Whole   3, 3.0, 3e2   a number without a fraction
//	Time    90, 0.5, 1e3  time units, to the nearest tick; halves are rounded away from zero
//	Float   0.1, -2e-3    a number in floating point
//	Seconds 90, 15m, 4h   a time of 0 or more as people write it
//
// The bounds of a value are arguments, and are checked here. Fault says why a text is none of the
// values; what is said to people about it is the caller's.
package number

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gridslot/gridslot/des"
)

// Fault is the reason for which a text is no value of the kind that is wanted.
type Fault uint8

const (
	Sound      Fault = iota // it is one
	NotNumber               // the text is no number
	NotFinite               // it says inf or NaN
	NotWhole                // it has a fraction, and a whole number is wanted
	OutOfRange              // its magnitude is above the bound
)

// Text is a text from which a number is read.
type Text interface{ ~string | ~[]byte }

// Whole returns a whole number whose magnitude is at most a bound. For a number with a fraction,
// which is NotWhole, it returns the part before the point.
func Whole[T Text](text T, most int64) (int64, Fault) { return scaled([]byte(text), 1, most) }

// Time returns a number of time units, to the nearest tick, whose magnitude is at most a bound.
func Time[T Text](text T, most des.Time) (des.Time, Fault) {
	n, fault := scaled([]byte(text), int64(des.Second), int64(most))
	return des.Time(n), fault
}

// InUnits is Time for a number of units of a length of their own, such as minutes.
func InUnits[T Text](text T, unit, most des.Time) (des.Time, Fault) {
	if unit == des.Second {
		return Time(text, most)
	}
	// Whole numbers of units are exact, whatever the unit.
	if n, ok := Integer([]byte(text)); ok {
		if n > int64(most/unit) || n < -int64(most/unit) {
			return 0, OutOfRange
		}
		return des.Time(n) * unit, Sound
	}
	x, fault := Float(text)
	if x = math.Round(x * float64(unit)); fault == Sound && math.Abs(x) > float64(most) {
		fault = OutOfRange
	}
	if fault != Sound {
		return 0, fault
	}
	return des.Time(x), Sound
}

// longest bounds the times that Seconds reads, in time units: well within the range of des.Time.
const longest = 1e12

// Seconds reads a time of 0 or more as people write it, and returns it in time units: "90", or with a
// unit behind it "90s", "15m", "4h", "30d".
func Seconds(text string) (float64, error) {
	number, unit := text, des.Second
	if n := len(text) - 1; n > 0 {
		switch text[n] {
		case 's':
			number = text[:n]
		case 'm':
			number, unit = text[:n], des.Minute
		case 'h':
			number, unit = text[:n], des.Hour
		case 'd':
			number, unit = text[:n], des.Day
		}
	}
	v, fault := Float(number)
	if v *= unit.Seconds(); fault != Sound || !(v >= 0) || v > longest {
		return 0, fmt.Errorf("want a time of 0 or more, in seconds or as in 15m, 4h, 30d, not %q", text)
	}
	return v, nil
}

// Length is Seconds as a des.Time, to the nearest tick.
func Length(text string) (des.Time, error) {
	seconds, err := Seconds(text)
	return des.Seconds(seconds), err
}

// Float returns the floating-point number nearest to what the text says.
func Float[T Text](text T) (float64, Fault) {
	if x, ok := shortFloat([]byte(text)); ok {
		return x, Sound
	}
	return longFloat([]byte(text))
}

// Written returns a number as strconv.FormatFloat writes it: as Float, and the infinite ones and
// NaN. A number that is too large for floating point is infinite.
func Written[T Text](text T) (x float64, ok bool) {
	x, fault := Float(text)
	return x, fault != NotNumber
}

// longFloat is Float for any text.
func longFloat(text []byte) (float64, Fault) {
	for _, c := range text {
		switch c {
		case 'x', 'X', '_', 'p', 'P': // notations of Go alone
			return 0, NotNumber
		}
	}
	x, err := strconv.ParseFloat(string(text), 64)
	switch {
	case math.IsInf(x, 0) && err != nil: // too large even for floating point
		return x, OutOfRange
	case err != nil:
		return 0, NotNumber
	case math.IsNaN(x) || math.IsInf(x, 0):
		return x, NotFinite
	}
	return x, Sound
}

// scaled returns a number times scale (1, or the ticks of a time unit), rounded half away from
// zero, exactly. For scale 1 a fraction is refused as NotWhole, with the whole part as n. The
// magnitude must not exceed most. Invariant: scale is a power of ten.
func scaled(token []byte, scale, most int64) (n int64, fault Fault) {
	if n, ok := Small(token); ok && n <= most/scale {
		return n * scale, Sound
	}
	// Phase 1: the sign, and the digits before the point.
	text := token
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	var whole uint64
	i := 0
	for i < len(text) && isDigit(text[i]) {
		d := uint64(text[i] - '0')
		if whole > (math.MaxInt64-d)/10 {
			return scaledFloat(token, scale, most)
		}
		whole = whole*10 + d
		i++
	}
	// Phase 2: the digits behind the point.
	digits := i
	var f fraction
	if i < len(text) && text[i] == '.' {
		n := f.read(text[i+1:], scale)
		digits, i = digits+n, i+1+n
	}
	// Phase 3: put them together, within the bounds.
	if digits == 0 || i < len(text) {
		return scaledFloat(token, scale, most)
	}
	if whole > uint64(most/scale) {
		return 0, OutOfRange
	}
	n = int64(whole)*scale + f.value
	if scale > 1 && f.roundUp {
		n++
	}
	if n > most || n < 0 { // the sum passed the range of int64
		return 0, OutOfRange
	}
	if negative {
		n = -n
	}
	if scale == 1 && f.nonzero {
		return n, NotWhole
	}
	return n, Sound
}

// fraction is the part of a number behind its point, times a scale.
type fraction struct {
	value   int64 // rounded down. Invariant: 0 <= value < scale
	roundUp bool  // the rest is half or more
	nonzero bool  // some digit is not 0
}

// read reads the digits at the beginning of text, and returns how many these are. unit is what the
// next digit is worth: at 1 it only decides the rounding, and at 0 no further digit counts.
func (f *fraction) read(text []byte, scale int64) (n int) {
	for unit := scale; n < len(text) && isDigit(text[n]); n++ {
		d := int64(text[n] - '0')
		f.nonzero = f.nonzero || d != 0
		switch {
		case unit > 1:
			unit /= 10
			f.value += d * unit
		case unit == 1:
			f.roundUp = d >= 5
			unit = 0
		}
	}
	return n
}

// scaledFloat is scaled for texts that are too long or too strange for it: exponents, numbers
// beyond 63 bits, and what is no number.
func scaledFloat(token []byte, scale, most int64) (int64, Fault) {
	x, fault := longFloat(token)
	switch {
	case fault != Sound:
		return 0, fault
	case math.Abs(x) >= 1<<63:
		return 0, OutOfRange
	case scale == 1 && x != math.Trunc(x):
		return int64(x), NotWhole
	}
	if x = math.Round(x * float64(scale)); math.Abs(x) >= 1<<63 || math.Abs(x) > float64(most) {
		return 0, OutOfRange
	}
	return int64(x), Sound
}

// isDigit reports whether c is one of 0 to 9; c-'0' wraps around below '0'.
func isDigit(c byte) bool { return c-'0' <= 9 }

package number

import (
	"encoding/binary"
	"strconv"
)

// This file turns digits of text into numbers, eight at a time, without a branch on how many there
// are: lengths of neighbouring numbers in a log are as good as random.

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones

	// Zeros are eight digits 0. A word of eight digits, the first one in the lowest byte, becomes
	// their values where it is xored with them.
	Zeros = '0' * ones
)

// Others marks the bytes of a word that are no values of digits, by their highest bits, up to the
// first such byte; bytes behind it may be marked wrongly. Adding 0x76 sets the highest bit of a
// value from 10 on.
func Others(values uint64) uint64 { return (values + 0x76*ones | values) & highs }

// Eight returns the number that eight values of digits make; fewer digits are shifted up, behind
// zeros. It joins digits into pairs, pairs into fours and fours into eight, in three
// multiplications (D. Lemire, "Quickly parsing eight digits", 2018).
func Eight(values uint64) int64 {
	const (
		pairs = 0x000000FF000000FF
		mul1  = 100 + 1000000<<32
		mul2  = 1 + 10000<<32
	)
	values = values*10 + values>>8
	return int64((values&pairs*mul1 + values>>16&pairs*mul2) >> 32)
}

// Small returns the number that a text of one to eight digits is. What stands behind the text in
// memory may be looked at, but does not matter.
func Small(text []byte) (n int64, ok bool) {
	size := len(text)
	if uint(size-1) >= 8 {
		return 0, false
	}
	if cap(text) < 8 { // at the very end of a buffer
		for _, c := range text {
			if c -= '0'; c > 9 {
				return 0, false
			}
			n = n*10 + int64(c)
		}
		return n, true
	}
	values := (binary.LittleEndian.Uint64(text[:8]) ^ Zeros) << (64 - 8*size)
	return Eight(values), Others(values) == 0
}

// eighteen returns the number that a text of one to eighteen digits is: no such number is beyond
// int64.
func eighteen(text []byte) (n int64, ok bool) {
	if len(text) <= 8 {
		return Small(text)
	}
	if len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, true
}

// Integer returns a whole number of 64 bits with or without a sign, as strconv.ParseInt reads it.
func Integer(text []byte) (n int64, ok bool) {
	if n, ok = eighteen(text); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}

// powers of ten up to 10^15 are exact as float64, and so are whole numbers of 15 digits.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// Count returns a whole number of 0 or more that is written in digits alone, up to a bound.
// Formats have such numbers where 1e3 or +3 would be another text: in ids and names.
func Count(text []byte, most int64) (int64, Fault) {
	if n, ok := Small(text); ok && n <= most {
		return n, Sound
	}
	for _, c := range text {
		if !isDigit(c) {
			return 0, NotNumber
		}
	}
	return Whole(text, most)
}

// shortFloat returns a number of up to 15 digits with or without a point: the digits and the power
// of ten are both exact, so that the quotient is rounded once, to the nearest float64 (W. Clinger,
// "How to read floating point numbers accurately", 1990).
func shortFloat(text []byte) (x float64, ok bool) {
	if n, ok := Small(text); ok {
		return float64(n), true
	}
	n, digits, fraction, point := int64(0), 0, 0, false
	for _, c := range text {
		switch {
		case isDigit(c):
			n = n*10 + int64(c-'0')
			if digits++; point {
				fraction++
			}
		case c == '.' && !point:
			point = true
		default:
			return 0, false
		}
		if digits > 15 {
			return 0, false
		}
	}
	return float64(n) / powers[fraction], digits > 0
}

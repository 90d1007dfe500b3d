package workload

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
)

// This file turns the digits of a line into numbers, eight at a time.

// MaxTime bounds every time of a log, whatever its format: 1e12 s, some 31,000 years.
// Sums of a few of them stay within des.Time.
const MaxTime = 1e12 * des.Second

const maxTime = int64(MaxTime) // in ticks, of the digits of a line

// timeFields marks the fields (bit i = field i+1) that hold times.
const timeFields = 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<8 | 1<<17

// scales turn the fields' numbers into what is kept: seconds into ticks.
var scales = [numFields]int64{
	1, ticks, ticks, ticks, 1, ticks, 1, 1, ticks, 1, 1, 1, 1, 1, 1, 1, 1, ticks,
}

// ticks is the number of ticks in a second.
const ticks = int64(des.Second)

// memoryFields are averages over processors in some logs, and may have decimals.
const memoryFields = 1<<6 | 1<<9

// sizeFields count processors and must fit 31 bits.
const sizeFields = 1<<4 | 1<<7

// unknownText is "-1 ", as loaded.
const unknownText = '-' | '1'<<8 | ' '<<16

// isBlank reports whether a byte is a blank within a line, between fields.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// skipBlanks is the offset of the next byte at or after i that is no blank
// within the line. A line end is none, so it stops there at the latest.
func skipBlanks(buf []byte, i int) int {
	for isBlank(buf[i]) {
		i++
	}
	return i
}

// tokenEnd is the offset of the blank or line end behind the field that begins
// at i.
func tokenEnd(buf []byte, i int) int {
	for buf[i] != '\n' && !isBlank(buf[i]) {
		i++
	}
	return i
}

// parse reads the 18 fields of the line whose first field begins at i: times
// in ticks, the rest as they are. It returns the offset behind the last field,
// or the offset and the number of the field (0 for the line) that is none, and
// the reason.
//
// Eight bytes are loaded at a time: their leading digits are found and turned
// into a number without a branch on how many there are, since the lengths of
// neighbouring numbers are as good as random.
func (r *Reader) parse(i int, v *[numFields]int64) (end, field int, why Reason, ok bool) {
	buf := r.buf
	for f := range numFields {
		// Blanks in front of the field. A line end comes too early here; other control characters
		// are no numbers.
		for buf[i] <= ' ' {
			switch c := buf[i]; {
			case isBlank(c):
				i++
			case c == '\n':
				return i, 0, TooFewFields, false
			default:
				return i, f + 1, NotANumber, false
			}
		}

		// Most fields of a log are "-1 ".
		word := binary.LittleEndian.Uint64(buf[i:])
		if word&0xFFFFFF == unknownText {
			v[f] = -scales[f]
			i += 3
			continue
		}
		first := i
		negative := byte(word) == '-'
		if negative {
			word >>= 8
			i++
		}

		// XOR with "00000000" makes digits 0 to 9 and leaves other bytes above. The first other byte
		// ends the number; a shift puts zeros in front of its digits. A number of more than eight
		// digits goes on behind the word: odd reads it.
		word ^= number.Zeros
		count := bits.TrailingZeros64(number.Others(word)) >> 3
		n := number.Eight(word << ((64 - 8*count) & 63))
		if negative {
			n = -n
		}
		n *= scales[f]
		i += count
		if buf[i] == ' ' && count > 0 {
			i++ // guessed by the processor, so that the next load need not wait for this one
		} else if c := buf[i]; count == 0 || c != '\n' && !isBlank(c) {
			if n, i, why, ok = r.odd(first, f); !ok {
				return first, f + 1, why, false
			}
		}
		v[f] = n
	}
	return i, 0, 0, true
}

// odd reads a number of field f+1 that is not a plain one of one to eight
// digits: longer, with decimals, a sign or an exponent, or no number.
func (r *Reader) odd(i, f int) (n int64, end int, why Reason, ok bool) {
	end = tokenEnd(r.buf, i)
	token := r.buf[i:end]
	n, why, ok = parseField(token, f)
	if ok && why == MemoryFractionDropped {
		r.report.add(r.line, f+1, why, token)
	}
	return n, end, why, ok
}

// reasonOf returns the Reason under which a report counts a fault of a number.
func reasonOf(fault number.Fault) Reason {
	switch fault {
	case number.NotFinite:
		return notFinite
	case number.NotWhole:
		return NotWhole
	case number.OutOfRange:
		return OutOfRange
	}
	return NotANumber
}

// parseField reads a number of field f+1 as SWF has it: seconds, counts of processors within 31 bits,
// memory in kB whose fraction is dropped, and other whole numbers.
func parseField(text []byte, f int) (n int64, why Reason, ok bool) {
	if timeFields>>f&1 != 0 {
		t, fault := number.Time(text, MaxTime)
		return int64(t), reasonOf(fault), fault == number.Sound
	}
	most := int64(math.MaxInt64)
	if sizeFields>>f&1 != 0 {
		most = math.MaxInt32
	}
	n, fault := number.Whole(text, most)
	if fault == number.NotWhole && memoryFields>>f&1 != 0 {
		return n, MemoryFractionDropped, true
	}
	return n, reasonOf(fault), fault == number.Sound
}

// expectation says for people what a field should hold.
func expectation(field int) string {
	switch f := field - 1; {
	case field == 1:
		return "a job number of 0 or more"
	case field == 2:
		return "seconds of 0 or more"
	case timeFields>>f&1 != 0:
		return "seconds, or -1 where unknown"
	case sizeFields>>f&1 != 0:
		return "a number of processors, or -1 where unknown"
	default:
		return "a whole number, or -1 where unknown"
	}
}

package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// This file cuts lines into cells, eight bytes at a time.

const (
	ones = 0x0101010101010101
	lows = 0x7F * ones
)

// equal marks, by its highest bit, each byte of word that is equal to the byte of pattern at its place.
// (Hacker's Delight, 2nd ed., section 6-1: a byte of the XOR is 0 where the two are equal, and of ~(((x &
// 0x7F) + 0x7F) | x | 0x7F) the highest bit is set there alone.)
func equal(word, pattern uint64) uint64 {
	word ^= pattern
	return ^((word&lows + lows) | word | lows)
}

// Cut appends the cells of a line, between which one byte stands.
func Cut(cells [][]byte, line []byte, separator byte) [][]byte {
	pattern := ones * uint64(separator)
	from, at := 0, 0
	for ; at+8 <= len(line); at += 8 {
		for found := equal(binary.LittleEndian.Uint64(line[at:]), pattern); found != 0; found &= found - 1 {
			end := at + bits.TrailingZeros64(found)>>3
			cells = append(cells, line[from:end])
			from = end + 1
		}
	}
	for ; at < len(line); at++ {
		if line[at] == separator {
			cells = append(cells, line[from:at])
			from = at + 1
		}
	}
	return append(cells, line[from:])
}

// CutBlanks appends the cells of a line, between which blanks and tabs stand.
func CutBlanks(cells [][]byte, line []byte) [][]byte {
	const blanks, tabs = ones * ' ', ones * '\t'
	from, at := 0, 0
	for ; at+8 <= len(line); at += 8 {
		word := binary.LittleEndian.Uint64(line[at:])
		for found := equal(word, blanks) | equal(word, tabs); found != 0; found &= found - 1 {
			end := at + bits.TrailingZeros64(found)>>3
			if end > from {
				cells = append(cells, line[from:end])
			}
			from = end + 1
		}
	}
	for ; at < len(line); at++ {
		if line[at] == ' ' || line[at] == '\t' {
			if at > from {
				cells = append(cells, line[from:at])
			}
			from = at + 1
		}
	}
	if from < len(line) {
		cells = append(cells, line[from:])
	}
	return cells
}

// CutQuoted is Cut for CSV (RFC 4180): a cell that begins with a quote ends with one, and two
// quotes within it are one. Such cells are unpacked into buf. They are not sound where a quote is
// not closed, or where something stands between it and the next separator: that is passed
// over.
func CutQuoted(cells [][]byte, line []byte, separator byte, buf *[]byte) (_ [][]byte, sound bool) {
	if bytes.IndexByte(line, '"') < 0 {
		return Cut(cells, line, separator), true
	}
	*buf = (*buf)[:0]
	for sound = true; ; {
		cell, closed := line, true
		quoted := len(line) > 0 && line[0] == '"'
		if quoted {
			cell, line, closed = unquote(line[1:], buf)
		}
		i := bytes.IndexByte(line, separator)
		if quoted {
			sound = sound && closed && (len(line) == 0 || i == 0)
		} else if i >= 0 {
			cell = line[:i]
		}
		cells = append(cells, cell)
		if i < 0 {
			return cells, sound
		}
		line = line[i+1:]
	}
}

// unquote unpacks a cell from behind its quote on.
func unquote(line []byte, buf *[]byte) (cell, rest []byte, closed bool) {
	from := len(*buf)
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			*buf = append(*buf, line...)
			return (*buf)[from:], nil, false
		}
		*buf = append(*buf, line[:i]...)
		line = line[i+1:]
		if len(line) == 0 || line[0] != '"' {
			return (*buf)[from:], line, true
		}
		*buf = append(*buf, '"')
		line = line[1:]
	}
}

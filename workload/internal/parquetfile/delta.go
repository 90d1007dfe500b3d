package parquetfile

import (
	"encoding/binary"
	"fmt"
)

// This file decodes the encodings of differences, which writers of version 2 of the format
// choose: of numbers to the one before (DELTA_BINARY_PACKED), and of texts, by their lengths
// (DELTA_LENGTH_BYTE_ARRAY) and by how many letters they share with the one before
// (DELTA_BYTE_ARRAY), as Encodings.md has them. Numbers wrap round as in two's complement.

// deltas decodes numbers that are stored as differences:
//
//	block size | miniblocks a block | how many | the first | block | block ...
//	block:  least difference | bits of each miniblock | miniblock | miniblock ...
//
// A miniblock holds differences from the block's least one, of so many bits each.
type deltas struct {
	b         []byte // what has not been read
	perBlock  uint64 // miniblocks in a block
	miniblock uint64 // numbers in each of them, a multiple of 8
	left      uint64 // numbers that are not taken yet
	value     int64  // the latest, or the first before it has been taken
	first     bool   // the first has not been taken yet

	least  int64  // the least difference in the present block
	widths []byte // the bits of a number in each miniblock of the block that is still to come

	packed []byte // the present miniblock
	bits   uint64 // of each of its numbers, 0 to 64
	at     uint64 // bits of it that are taken
	inside uint64 // numbers of it that are left
}

// begin reads the heading of at most so many numbers, those of a page.
func (d *deltas) begin(b []byte, most int64) error {
	*d = deltas{b: b, first: true}
	block, ok := d.uvarint()
	if ok {
		d.perBlock, ok = d.uvarint()
	}
	if ok {
		d.left, ok = d.uvarint()
	}
	if ok {
		d.value, ok = d.varint()
	}
	switch {
	case !ok:
		return errShort
	case block == 0 || block > maxBlock || d.perBlock == 0 || block%d.perBlock != 0 || block/d.perBlock%8 != 0:
		return fmt.Errorf("its values come in blocks of %d in %d parts, which no writer does", block, d.perBlock)
	case d.left > uint64(min(most, maxDeltas)):
		return fmt.Errorf("a page of %d values is said to have %d differences of at most %d", most, d.left, maxDeltas)
	}
	d.miniblock = block / d.perBlock
	return nil
}

// Bounds far above what writers have, which is blocks of 128 or 2,048: equal differences take
// next to nothing.
const (
	maxBlock  = 1 << 16
	maxDeltas = 1 << 24 // a page
)

// next is the next number; ok is false where there is none.
func (d *deltas) next() (v int64, ok bool) {
	if d.left == 0 {
		return 0, false
	}
	d.left--
	if d.first {
		d.first = false
		return d.value, true
	}
	if d.inside == 0 && !d.turn() {
		return 0, false
	}
	d.inside--
	difference, ok := d.unpack()
	d.value += d.least + int64(difference)
	return d.value, ok
}

// unpack takes the next number of the miniblock, which may lie over nine bytes.
func (d *deltas) unpack() (x uint64, ok bool) {
	for got := uint64(0); got < d.bits; {
		i, skip := d.at/8, d.at%8
		if i >= uint64(len(d.packed)) {
			return 0, false
		}
		n := min(8-skip, d.bits-got)
		x |= uint64(d.packed[i]>>skip) & (1<<n - 1) << got
		got, d.at = got+n, d.at+n
	}
	return x, true
}

// turn goes to the next miniblock, and if it is the first of a block reads the block's heading. It
// reports whether there is one.
func (d *deltas) turn() bool {
	if len(d.widths) == 0 {
		var ok bool
		if d.least, ok = d.varint(); !ok || uint64(len(d.b)) < d.perBlock {
			return false
		}
		d.widths, d.b = d.b[:d.perBlock], d.b[d.perBlock:]
	}
	d.bits, d.widths = uint64(d.widths[0]), d.widths[1:]
	if d.bits > 64 {
		return false
	}
	size := min(d.bits*d.miniblock/8, uint64(len(d.b))) // the last one may be cut behind what is used of it
	d.packed, d.b = d.b[:size], d.b[size:]
	d.at, d.inside = 0, d.miniblock
	return true
}

// end passes over all numbers that are left, and gives what stands behind them.
func (d deltas) end() ([]byte, error) {
	for d.left > 0 {
		if _, ok := d.next(); !ok {
			return nil, errShort
		}
	}
	return d.b, nil
}

// uvarint is the next number of seven bits a byte, the lowest first; it is not signed.
func (d *deltas) uvarint() (uint64, bool) {
	x, n := binary.Uvarint(d.b)
	if n <= 0 {
		return 0, false
	}
	d.b = d.b[n:]
	return x, true
}

// varint is the next signed number, stored as uvarint by zigzag.
func (d *deltas) varint() (int64, bool) {
	x, n := binary.Varint(d.b)
	if n <= 0 {
		return 0, false
	}
	d.b = d.b[n:]
	return x, true
}

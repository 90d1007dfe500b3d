package scan

import "encoding/binary"

// This file makes strings of what rows of a log say, and one string of texts that are equal, since rows
// repeat them; and it remembers what came of such texts.

// Bounds of what is kept: how many texts, and of how many bytes each.
const (
	mostKept    = 1 << 16
	longestKept = 256
)

// Kept are the texts of one column of a reading. What is longer than longestKept, or new once
// there are too many, gets a string of its own. The zero value is ready.
type Kept struct {
	all    map[string]string // at most mostKept; nil before the first, and if unique
	again  int               // how often a text was found in all
	unique bool              // texts hardly ever come again, and all is given up
	late   Memo[string]      // those that came lately, which is looked into first
}

// After uniqueTried different texts of which next to none came again, as of a column of ids,
// looking for further ones would only take time.
const (
	uniqueTried = 1 << 14
	uniqueAgain = uniqueTried >> 6
)

// Of is the string of a text, which may change afterwards.
func (k *Kept) Of(text []byte) string {
	if s, ok := k.late.Find(text); ok {
		return s
	}
	s, ok := k.all[string(text)]
	if ok {
		k.again++
	} else {
		if s = string(text); len(s) > longestKept || len(k.all) == mostKept {
			return s
		}
		k.keep(s)
	}
	k.late.Put(s, s)
	return s
}

// keep puts a new text into all.
func (k *Kept) keep(s string) {
	switch {
	case k.unique:
		return
	case k.all == nil:
		k.all = map[string]string{}
	}
	k.all[s] = s
	if len(k.all) == uniqueTried && k.again < uniqueAgain {
		k.all, k.unique = nil, true
	}
}

// Memo remembers what came of texts lately: a look into it takes a fraction of one into
// a map. The zero value is ready.
type Memo[T any] struct {
	slots []remembered[T] // made when they are needed
}

// remembered is a text and what came of it.
type remembered[T any] struct {
	text  string
	known bool // the slot is in use: "" is a text, too
	value T
}

// slotBits is the binary logarithm of how many texts are remembered, each at the one place that
// its hash gives it.
const slotBits = 10

// hash is of eight bytes at the end of a text, and of its length: names often differ in their
// last letters alone.
func hash(text []byte) uint {
	var last uint64
	if n := len(text); n >= 8 {
		last = binary.LittleEndian.Uint64(text[n-8:]) + uint64(n) + uint64(text[0])<<32
	} else {
		for _, c := range text {
			last = last<<8 | uint64(c)
		}
	}
	return uint(last * 0x9E3779B97F4A7C15 >> (64 - slotBits)) // Knuth's multiplicative hashing, by the golden ratio
}

// Find returns the value that was remembered for a text.
func (m *Memo[T]) Find(text []byte) (value T, ok bool) {
	if m.slots == nil {
		return value, false
	}
	e := &m.slots[hash(text)]
	if e.known && e.text == string(text) {
		return e.value, true
	}
	return value, false
}

// Put remembers what came of a text, unless that is long.
func (m *Memo[T]) Put(text string, value T) {
	if len(text) > longestKept {
		return
	}
	if m.slots == nil {
		m.slots = make([]remembered[T], 1<<slotBits)
	}
	m.slots[hash([]byte(text))] = remembered[T]{text, true, value}
}

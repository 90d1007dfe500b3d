package plan

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// profile is the number of free processors over time, as levels: how many are free
// from an instant to the next level. Invariants: instants rise; neighbours differ; no block is
// empty, and none has more than blockSize levels; level.free + block.base is what is free.
//
// Levels lie in blocks, each of which says between what bounds its levels are, so that
// a search passes over most blocks at a look; and for holes of some width it remembers
// what it found in a block (holes). A change walks along what it covers, block by
// block where it covers whole ones:
//
//	free |  ____        |     ____    |
//	     |_|    |___    |____|    |___|____
//	     |          |___|             |
//	     +--------------+-------------+------> time
//	         block 0        block 1
type profile struct {
	free   int // before the first level
	falls  int // levels at which less is free than before; 0 where jobs only end
	blocks []block
	spare  [][]level
}

// level says how many processors are free from an instant to the next level.
type level struct {
	at   des.Time
	free int
}

// block is a run of levels.
type block struct {
	first     des.Time
	low, high int  // bounds of what is free
	loose     bool // the bounds may be wider than levels want them
	base      int  // added to the free numbers of all levels
	levels    []level
	known     uint32 // of which widths holes are right, a bit each
	holes     []holes
}

// holes summarises the spans of a block over which at least 2^w processors are free, for the w-th
// width.
type holes struct {
	lack    des.Time // the first instant in the block at which fewer are free, or des.Forever
	longest des.Time // of the spans that begin after that instant and end in the block
	open    des.Time // when the span begins that goes on behind the block, or -1
}

const blockSize = 64

// boundsPay is the number of blocks up to which a search walks level by level instead of finding
// their bounds anew. A profile usually has one or two blocks, which change as often as they are
// searched.
const boundsPay = 2

// locate is the position of the first level at the instant t or later: the block, and
// the place in it, which may be its end.
func (p *profile) locate(t des.Time) (k, i int) {
	if len(p.blocks) == 0 {
		return 0, 0
	}
	for n := len(p.blocks); n > 1; n -= n / 2 {
		k += upTo(n/2, p.blocks[k+n/2].first, t)
	}
	levels := p.blocks[k].levels
	for n := len(levels); n > 1; n -= n / 2 {
		i += upTo(n/2, levels[i+n/2].at, t)
	}
	if levels[i].at < t {
		i++
	}
	return k, i
}

// upTo is n if the instant at is t or earlier, and otherwise 0: by arithmetic, since a
// processor would mispredict every other branch. Instants are never negative.
func upTo(n int, at, t des.Time) int {
	_, later := bits.Sub64(uint64(t), uint64(at), 0)
	return n & (int(later) - 1)
}

// before is the level before a position; its instant is -1 where there is none.
func (p *profile) before(k, i int) level {
	if i == 0 {
		if k == 0 {
			return level{-1, p.free}
		}
		k--
		i = len(p.blocks[k].levels)
	}
	b := &p.blocks[k]
	l := b.levels[i-1]
	l.free += b.base
	return l
}

// add changes what is free over [from, to) by delta; where from is not ahead of the
// origin, from the beginning on. It returns how many are free just before the span, math.MaxInt
// where nothing is before it, and an upper bound of how many are free in the span now.
func (p *profile) add(origin, from, to des.Time, delta int) (before, most int) {
	if to <= origin {
		return math.MaxInt, math.MinInt
	}
	// Levels begin at both ends of the span. The later end comes first: an edge may
	// split a block, and the position (k, i) of the earlier end must stay valid.
	if to < des.Forever {
		p.edge(to)
	}
	k, i := 0, 0
	before, most = math.MaxInt, math.MinInt
	if from > origin {
		k, i = p.edge(from)
		before = p.before(k, i).free
	} else {
		p.free += delta
		most = p.free
	}

	// Levels of the span change: whole blocks by their base, parts level by level.
	j, end := k, i
	for j < len(p.blocks) {
		b := &p.blocks[j]
		if end == 0 && j+1 < len(p.blocks) && p.blocks[j+1].first <= to {
			b.shift(delta)
			most = max(most, b.high)
			j++
			continue
		}
		var high int
		end, high = b.raise(end, to, delta)
		if most = max(most, high); end < len(b.levels) {
			break
		}
		j++
		end = 0
	}

	// The two ends may have become equal to their neighbours, and blocks small.
	if to < des.Forever {
		p.settle(j, end, -delta)
	}
	if from > origin {
		p.settle(k, i, delta)
	}
	p.mend(j)
	p.mend(k - 1)
	return before, most
}

// edge has a level begin at the instant t, which is ahead, and returns its position.
func (p *profile) edge(t des.Time) (k, i int) {
	k, i = p.locate(t)
	if len(p.blocks) == 0 {
		p.blocks = append(p.blocks, block{first: t, low: p.free, high: p.free, levels: append(p.fresh(), level{t, p.free})})
		return 0, 0
	}
	b := &p.blocks[k]
	if i < len(b.levels) && b.levels[i].at == t {
		return k, i
	}
	if len(b.levels) == blockSize {
		p.split(k, i)
		if b = &p.blocks[k]; i > len(b.levels) || len(b.levels) == blockSize {
			i -= len(b.levels)
			k++
			b = &p.blocks[k]
		}
	}
	free := p.before(k, i).free
	b.levels = append(b.levels, level{})
	copy(b.levels[i+1:], b.levels[i:])
	b.levels[i] = level{t, free - b.base}
	b.low, b.high = min(b.low, free), max(b.high, free)
	if i == 0 {
		b.first, b.known = t, 0
	}
	return k, i
}

// split makes room in the k-th block, which is full: for what comes behind all others
// an empty block, otherwise two halves.
func (p *profile) split(k, i int) {
	at := blockSize / 2
	if i == blockSize && k == len(p.blocks)-1 {
		at = blockSize
	}
	p.blocks = slices.Insert(p.blocks, k+1, block{})
	left, right := &p.blocks[k], &p.blocks[k+1]
	right.levels = append(p.fresh(), left.levels[at:]...)
	right.base = left.base
	left.levels = left.levels[:at]
	left.known = 0
	right.low, right.high, right.loose = left.low, left.high, left.loose
	if at < blockSize {
		right.first = right.levels[0].at
		left.bound()
		right.bound()
	}
}

// fresh is room for the levels of a block.
func (p *profile) fresh() []level {
	if n := len(p.spare); n > 0 {
		s := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return s
	}
	return make([]level, 0, blockSize)
}

// settle is for the level at a position, whose distance from the level before has changed
// by delta: it counts falls, and takes the level out if nothing changes there.
func (p *profile) settle(k, i, delta int) {
	b := &p.blocks[k]
	step := b.levels[i].free + b.base - p.before(k, i).free
	p.falls += falling(step) - falling(step-delta)
	if step != 0 {
		return
	}
	b.levels = append(b.levels[:i], b.levels[i+1:]...)
	switch {
	case len(b.levels) == 0:
		p.drop(k)
	case i == 0:
		b.first, b.known = b.levels[0].at, 0
	}
}

// falling is 1 for a step down, and otherwise 0.
func falling(step int) int {
	if step < 0 {
		return 1
	}
	return 0
}

// mend joins the k-th block with the one behind it where both together are small.
func (p *profile) mend(k int) {
	if k < 0 || k+1 >= len(p.blocks) || len(p.blocks[k].levels)+len(p.blocks[k+1].levels) > blockSize/2 {
		return
	}
	left, right := &p.blocks[k], &p.blocks[k+1]
	for _, l := range right.levels {
		left.levels = append(left.levels, level{l.at, l.free + right.base - left.base})
	}
	left.low, left.high, left.loose, left.known = min(left.low, right.low), max(left.high, right.high), left.loose || right.loose, 0
	p.drop(k + 1)
}

// drop takes out the k-th block.
func (p *profile) drop(k int) {
	p.spare = append(p.spare, p.blocks[k].levels[:0])
	p.blocks = slices.Delete(p.blocks, k, k+1)
}

// pass folds what has begun by now into the present, and reports whether anything became
// free by that.
func (p *profile) pass(now des.Time) (gained bool) {
	for len(p.blocks) > 0 && p.blocks[0].first <= now {
		b := &p.blocks[0]
		i := 0
		for ; i < len(b.levels) && b.levels[i].at <= now; i++ {
			free := b.levels[i].free + b.base
			gained = gained || free > p.free
			p.falls -= falling(free - p.free)
			p.free = free
		}
		if i == len(b.levels) {
			p.drop(0)
			continue
		}
		b.levels = append(b.levels[:0], b.levels[i:]...)
		b.first, b.known = b.levels[0].at, 0
	}
	return gained
}

// lift changes all there is by delta.
func (p *profile) lift(delta int) {
	p.free += delta
	for k := range p.blocks {
		p.blocks[k].shift(delta)
	}
}

// bound finds the bounds anew.
func (b *block) bound() {
	low, high := b.levels[0].free, b.levels[0].free
	for i := range b.levels[1:] {
		free := b.levels[i+1].free
		low, high = min(low, free), max(high, free)
	}
	b.low, b.high, b.loose = low+b.base, high+b.base, false
}

// shift changes all levels by delta.
func (b *block) shift(delta int) {
	low, high := b.low, b.high
	b.base += delta
	b.low += delta
	b.high += delta
	b.forget(min(low, b.low), max(high, b.high))
}

// raise changes the levels from the i-th on that begin before the instant to by delta,
// and returns where the others begin, and how many are free at most on the levels that have
// changed, math.MinInt if none has. Each level is looked at once.
func (b *block) raise(i int, to des.Time, delta int) (end, high int) {
	begun, least, most := i, math.MaxInt, math.MinInt
	for ; i < len(b.levels) && b.levels[i].at < to; i++ {
		free := b.levels[i].free
		least, most = min(least, free), max(most, free)
		b.levels[i].free = free + delta
	}
	if i == begun {
		return i, math.MinInt
	}
	high = b.base + most + delta
	b.forget(b.base+least+min(delta, 0), b.base+most+max(delta, 0))
	b.low, b.high, b.loose = min(b.low, b.base+least+delta), max(b.high, high), true
	return i, high
}

// forget drops what is known of holes of the widths above least, up to most.
func (b *block) forget(least, most int) {
	b.known &^= 1<<bits.Len(uint(max(most, 0))) - 1<<bits.Len(uint(max(least, 0)))
}

// widths bounds the number of widths of which holes are remembered.
const widths = 32

// learn finds out about holes of the w-th width.
func (b *block) learn(w int) {
	if w >= len(b.holes) {
		b.holes = append(b.holes, make([]holes, w+1-len(b.holes))...)
	}
	h := &b.holes[w]
	b.known |= 1 << w
	need := 1<<w - b.base
	*h = holes{lack: des.Forever, open: -1}
	i := 0
	for i < len(b.levels) && b.levels[i].free >= need {
		i++
	}
	if i == len(b.levels) {
		return
	}
	h.lack = b.levels[i].at
	for i++; i < len(b.levels); i++ {
		if b.levels[i].free < need {
			continue
		}
		open := b.levels[i].at
		for i++; i < len(b.levels) && b.levels[i].free >= need; i++ {
		}
		if i == len(b.levels) {
			h.open = open
			break
		}
		h.longest = max(h.longest, b.levels[i].at-open)
	}
}

// holeSearch is the scan for the earliest hole that has room for so many processors for
// so long. It walks the profile once, in one of two moods: waiting for room (at < 0),
// or, having room since at, watching whether it lasts until end.
//
//	free ^         at      end
//	     |  ____    ________|___
//	nodes|_|    |__|           |___
//	     |
//	     +--from----------------------> time
type holeSearch struct {
	nodes   int
	length  des.Time
	from    des.Time
	until   des.Time // latest start
	assured des.Time // from here on there is room in any case

	at  des.Time
	end des.Time

	barred des.Time // if there is no hole: none begins before this instant, however much is free from there on

	missNodes  int // what ended the latest hole under trial; see FitsAt
	missLength des.Time
}

// try has the hole begin at t.
func (h *holeSearch) try(t des.Time) {
	h.at, h.end = t, min(t.Add(h.length), h.assured)
}

// find looks for a hole; that there is one at h.at is the answer.
func (p *profile) find(h *holeSearch) {
	k, i := 0, 0
	if len(p.blocks) > 0 && p.blocks[0].first <= h.from {
		k, i = p.locate(h.from + des.Tick)
	}
	h.at, h.barred = -1, des.Forever
	if free := p.before(k, i).free; free >= h.nodes {
		h.try(h.from)
	} else {
		h.missNodes, h.missLength = free+1, 0
	}
	if i > 0 {
		if p.blocks[k].visit(h, i) {
			return
		}
		k++
	}
	w := bits.Len(uint(h.nodes)) - 1
	if h.until == h.from || len(p.blocks) < 3 || w >= widths {
		w = -1
	}
	late := -1    // the block in which a hole may have begun that nobody has looked at
	exactly := -1 // blocks up to this one are walked
	for ; ; k++ {
		if k == len(p.blocks) {
			if late < 0 {
				return
			}
		} else {
			b := &p.blocks[k]
			switch {
			case h.at < 0 && b.first > h.until:
				h.barred = min(h.barred, b.first)
				return
			case h.at >= 0 && late < 0 && b.first >= h.end:
				return
			case h.passes(b):
				continue
			}
			// Bounds that are too wide only hide that b can be passed. They are found anew where
			// holes that are known may not show it either.
			byHoles := w >= 0 && k > exactly && k+1 < len(p.blocks) && p.blocks[k+1].first <= h.assured
			if b.loose && len(p.blocks) > boundsPay && !(byHoles && b.known&(1<<w) != 0) {
				if b.bound(); h.passes(b) {
					continue
				}
			}
			if byHoles && h.skip(b, w) {
				late = -1
				if h.at >= 0 {
					late = k
				}
				continue
			}
		}
		if late >= 0 {
			exactly, k, late, h.at = k, late, -1, -1
		}
		if p.blocks[k].visit(h, 0) {
			return
		}
	}
}

// passes reports whether nothing happens to the search in block b, by the bounds of b: too few are free
// throughout while it waits for room, or enough throughout while it has room.
func (h *holeSearch) passes(b *block) bool {
	if h.at < 0 {
		return b.high < h.nodes
	}
	return b.low >= h.nodes
}

// skip passes over block b if none of its holes can be long enough, by what is known of
// wider ones.
func (h *holeSearch) skip(b *block, w int) bool {
	if b.known&(1<<w) == 0 {
		b.learn(w)
	}
	known := &b.holes[w]
	end := h.end
	if h.at < 0 {
		end = b.first.Add(h.length)
	}
	if known.longest >= h.length || known.lack >= end {
		return false
	}
	h.at = known.open
	if h.at > h.until {
		h.at, h.barred = -1, h.at
	}
	if h.at >= 0 {
		h.try(h.at)
	}
	return true
}

// visit walks the levels of b from the i-th on; true ends the search.
func (b *block) visit(h *holeSearch, i int) (done bool) {
	levels, need := b.levels, h.nodes-b.base
	for i < len(levels) {
		if h.at < 0 {
			for levels[i].free < need {
				if i++; i == len(levels) {
					if last := levels[i-1].at; last > h.until {
						h.barred = last + des.Tick
						return true
					}
					return false
				}
			}
			at := levels[i].at
			if at > h.until {
				h.barred = at
				return true
			}
			h.try(at)
			i++
			continue
		}
		end := h.end
		for levels[i].free >= need && levels[i].at < end {
			if i++; i == len(levels) {
				return false
			}
		}
		if levels[i].at >= end {
			return true
		}
		h.missNodes, h.missLength = levels[i].free+b.base+1, levels[i].at-h.at+des.Tick
		h.at = -1
		i++
	}
	return false
}

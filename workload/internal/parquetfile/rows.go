package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file decodes values, row by row.

// Rows are those of a table, one at a time.
type Rows struct {
	f       *Columnar
	columns []*values // those that were asked for
	shared  shared
	group   int   // how many row groups have been begun
	row     int64 // the number of the present row, from 1
	rest    int64 // rows of the present group that are still to come
	err     error
}

// shared has the state that the columns of a reading share.
type shared struct {
	memory int           // bytes of their pages and dictionaries; at most maxMemory
	unzstd *zstd.Decoder // nil before the first page that needs it
	met    scan.Kept     // the strings of texts
}

// Read begins with the first row, of those columns.
func (f *Columnar) Read(columns ...int) *Rows {
	r := &Rows{f: f}
	for _, i := range columns {
		c := &f.Columns[i]
		if c.Kind == Other && r.err == nil {
			r.err = fmt.Errorf("column %s: its values are of a type that is not read", c.Name)
		}
		r.columns = append(r.columns, &values{c: c, shared: &r.shared})
	}
	if len(columns) == 0 { // nothing would hold the footer's claims against the pages
		r.err = errors.New("no column is read")
	}
	return r
}

// Column is the i-th of the columns that were asked for.
func (r *Rows) Column(i int) *values { return r.columns[i] }

// Row is the number of the row, from 1.
func (r *Rows) Row() int64 { return r.row }

// Err returns the error that ended the reading, or nil at the end of the table.
func (r *Rows) Err() error { return r.err }

// Next goes to the next row and reports whether there is one.
func (r *Rows) Next() bool {
	if r.err != nil {
		return false
	}
	for r.rest == 0 {
		if !r.nextGroup() {
			return false
		}
	}
	r.rest--
	for _, c := range r.columns {
		if r.err = c.next(); r.err != nil {
			if r.err == io.EOF {
				r.err = errors.New("it ends before the row group does")
			}
			r.err = fmt.Errorf("row %d, column %s: %w", r.row+1, c.c.Name, r.err)
			return false
		}
	}
	r.row++
	return true
}

// nextGroup goes to the next row group and reports whether there is one. All columns must be at the end
// of the group before: one that has values left has more rows than the footer says.
func (r *Rows) nextGroup() bool {
	for _, c := range r.columns {
		if r.err = c.end(); r.err != nil {
			r.err = fmt.Errorf("row group %d, column %s: %w", r.group, c.c.Name, r.err)
			return false
		}
	}
	if r.group == len(r.f.groups) {
		return false
	}
	g := &r.f.groups[r.group]
	r.group++
	if g.rows < 0 {
		r.err = fmt.Errorf("row group %d is said to have %d rows", r.group, g.rows)
		return false
	}
	r.rest = g.rows
	for _, c := range r.columns {
		c.begin(r.f, g.chunks[c.c.leaf])
	}
	return true
}

// values are those of a column, one row at a time.
type values struct {
	c     *Column
	pages pages // of the present chunk
	page  page  // the present one
	left  int64 // of the page: rows, or in lists values, that are still to come
	held  int   // the bytes of shared.memory that are this column's

	shared *shared

	repeats, defines runs // the levels of the page
	indexes          runs // places in the dictionary
	bit              uint // of plain booleans: the next bit of the first byte of data

	// The dictionary of the chunk: one of these, by the kind of the column.
	numbers []float64
	wholes  []int64 // whole numbers and instants
	texts   []string
	bytes   int      // of the texts
	from    encoding // how the page at hand tells its values

	deltas, prefixes deltas // numbers, or the lengths of texts; what texts share with the one before
	before           []byte // the text before
	written          int    // bytes of the texts that were put together
	taken            int    // values of a page that is split by bytes

	// The value of the present row, or of a list the latest of its values: whole, number or text, by the
	// kind of the column.
	given  bool // the row has one
	whole  int64
	number float64
	text   string

	// Of lists: what Count, Number and Text tell, and the level that was read one too far.
	count   int64
	sum     float64
	joined  strings.Builder
	pending bool   // level has been read, and begins the next row
	level   uint32 // the latest repetition level
}

// begin goes to the first value of a chunk. The memory of the chunk before is used again.
func (v *values) begin(f *Columnar, c chunk) {
	v.pages = pages{in: f.in, c: v.c, codec: c.codec, at: c.from, end: c.from + c.size, packed: v.pages.packed, buf: v.pages.buf, shared: v.shared}
	v.left, v.pending = 0, false
	v.numbers, v.wholes, v.texts, v.bytes = nil, nil, nil, 0
}

// end is an error where something of the chunk is left.
func (v *values) end() error {
	if !v.pending {
		if err := v.more(); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
	return errors.New("it has more rows than the row group")
}

// account holds the memory of all columns against what may be used.
func (v *values) account() error {
	now := v.pages.size() + 8*cap(v.numbers) + 8*cap(v.wholes) + 16*cap(v.texts) + v.bytes + cap(v.before)
	v.shared.memory += now - v.held
	v.held = now
	if v.shared.memory > maxMemory {
		return fmt.Errorf("the pages of its columns take more than %d bytes at a time", maxMemory)
	}
	return nil
}

// Known reports whether the row has a value, or of a list any.
func (v *values) Known() bool { return v.given }

// Whole is the value of a column of whole numbers or instants.
func (v *values) Whole() int64 { return v.whole }

// Number is the value of a column of numbers, whole ones among them; of a list the sum.
func (v *values) Number() float64 {
	if v.c.List {
		return v.sum
	}
	if v.c.Kind == Number {
		return v.number
	}
	return float64(v.whole)
}

// Count returns the number of values of a list.
func (v *values) Count() int64 { return v.count }

// Text is the value of a column of text; of a list of text or whole numbers all of them,
// with commas between them.
func (v *values) Text() string {
	if v.c.List {
		return v.joined.String()
	}
	return v.text
}

// next takes the value of the next row. io.EOF says that the chunk has ended.
func (v *values) next() error {
	if v.c.List {
		return v.nextList()
	}
	if err := v.more(); err != nil {
		return err
	}
	v.left--
	v.given = true
	if v.c.defines > 0 {
		level, ok := v.defines.next()
		if !ok {
			return errShort
		}
		v.given = int(level) == v.c.defines
	}
	if !v.given {
		return nil
	}
	return v.decode()
}

// maxText is the largest length of the text of a list, in bytes.
const maxText = 1 << 20

// nextList takes in the values up to that which begins the next row.
//
//	row          1           2   3 (empty)   4
//	repetition   0  1  1     0   0           0  1
func (v *values) nextList() error {
	v.count, v.sum = 0, 0
	v.joined.Reset()
	for first := true; ; first = false {
		// The next repetition level, unless it was read one too far for the row before. 0 begins a row:
		// at the first it is this one, and otherwise the next one.
		if !v.pending {
			err := v.more()
			if err == io.EOF && !first {
				break
			}
			if err != nil {
				return err
			}
			v.left--
			level, ok := v.repeats.next()
			if !ok {
				return errShort
			}
			v.level = level
		}
		if v.pending = !first && v.level == 0; v.pending {
			break
		}
		// A level below the highest tells of no value: the list is empty or null, or the value is null.
		level, ok := v.defines.next()
		if !ok {
			return errShort
		}
		if int(level) != v.c.defines {
			continue
		}
		if err := v.decode(); err != nil {
			return err
		}
		// Numbers are summed, for their mean; texts and whole numbers are joined by commas.
		v.count++
		if v.c.Kind == Number {
			v.sum += v.number
			continue
		}
		if v.count > 1 {
			v.joined.WriteByte(',')
		}
		if v.c.Kind == Text {
			v.joined.WriteString(v.text)
		} else {
			v.sum += float64(v.whole)
			v.joined.WriteString(strconv.FormatInt(v.whole, 10))
		}
		if v.joined.Len() > maxText {
			return fmt.Errorf("a list takes more than %d bytes", maxText)
		}
	}
	v.given = v.count > 0
	return nil
}

// more goes to the next page where nothing of the one at hand is left.
func (v *values) more() error {
	for v.left == 0 {
		p, err := v.pages.next()
		if err != nil {
			return err
		}
		if p.dictionary {
			if err := v.dictionary(&p); err != nil {
				return err
			}
			continue
		}
		v.page, v.left = p, p.values
		v.repeats = runs{b: p.repeats, bits: uint(bits.Len(uint(v.c.repeats)))}
		v.defines = runs{b: p.defines, bits: uint(bits.Len(uint(v.c.defines)))}
		if err := v.encoded(p.encoding); err != nil {
			return err
		}
		if err := v.account(); err != nil {
			return err
		}
	}
	return nil
}

// encoding is the way in which a page holds its values.
type encoding uint8

const (
	plainly    encoding = iota
	byPlace             // in the dictionary
	byDelta             // from the number before
	byLength            // texts, after the lengths of all
	byPrefix            // texts, by what they share with the one before
	splitBytes          // the first bytes of all, the second ones, ...
)

// encoded prepares for the values of a page.
func (v *values) encoded(kind int64) (err error) {
	data, physical := v.page.data, v.c.physical
	isWhole := physical == physInt32 || physical == physInt64
	switch {
	case kind == encPlain:
		v.from, v.bit = plainly, 0
	case kind == encDictionary || kind == encPlainDictionary:
		v.from = byPlace
		if len(data) == 0 { // no row of the page has a value
			v.indexes = runs{}
			return nil
		}
		if data[0] > 32 {
			return errThrift
		}
		v.indexes = runs{b: data[1:], bits: uint(data[0])}
	case kind == encRuns && physical == physBool:
		if len(data) < 4 {
			return errShort
		}
		v.from = byPlace
		v.indexes = runs{b: data[4:], bits: 1}
		v.wholes = []int64{0, 1}
	case kind == encDelta && isWhole:
		v.from = byDelta
		return v.deltas.begin(data, v.left)
	case kind == encDeltaLength && physical == physBytes:
		v.from = byLength
		return v.lengths(data)
	case kind == encDeltaText && physical == physBytes:
		v.from, v.before, v.written = byPrefix, v.before[:0], 0
		if err = v.prefixes.begin(data, v.left); err != nil {
			return err
		}
		if data, err = v.prefixes.end(); err != nil {
			return err
		}
		return v.lengths(data)
	case kind == encSplit && (isWhole || physical == physFloat || physical == physDouble):
		v.from, v.taken = splitBytes, 0
		if len(data)%sizes[physical] != 0 {
			return errShort
		}
	default:
		name, ok := encodings[kind]
		if !ok {
			name = fmt.Sprint("number ", kind)
		}
		return fmt.Errorf("its values are in the encoding %s, which is not read: write it without", name)
	}
	return nil
}

// lengths begins with the lengths of texts, which stand before all texts.
func (v *values) lengths(data []byte) (err error) {
	if err = v.deltas.begin(data, v.left); err == nil {
		v.page.data, err = v.deltas.end()
	}
	return err
}

// dictionary reads the values that pages refer to by their places.
func (v *values) dictionary(p *page) error {
	if p.encoding != encPlain && p.encoding != encPlainDictionary {
		return errThrift
	}
	v.numbers, v.wholes, v.texts = nil, nil, nil
	v.page, v.from, v.bit = *p, plainly, 0
	v.bytes = len(p.data)
	for range p.values {
		if err := v.decode(); err != nil {
			return fmt.Errorf("its dictionary: %w", err)
		}
		switch v.c.Kind {
		case Number:
			v.numbers = append(v.numbers, v.number)
		case Text:
			v.texts = append(v.texts, v.text)
		default:
			v.wholes = append(v.wholes, v.whole)
		}
		if len(v.numbers)+len(v.wholes)+len(v.texts) > maxDictionary {
			return fmt.Errorf("its dictionary has more than %d values", maxDictionary)
		}
	}
	return v.account()
}

// maxDictionary is the largest number of values in a dictionary.
const maxDictionary = 1 << 22

// decode takes the next value.
func (v *values) decode() error {
	switch v.from {
	case byPlace:
		return v.place()
	case byDelta:
		x, ok := v.deltas.next()
		if !ok {
			return errShort
		}
		if v.c.physical == physInt32 {
			x = int64(int32(x)) // differences of INT32 wrap round at 32 bits
		}
		v.take64(uint64(x))
		return nil
	case byLength, byPrefix:
		return v.shortened()
	case splitBytes:
		// Byte i of all n values stands together: that of value k at i*n + k.
		size, data := sizes[v.c.physical], v.page.data
		n := len(data) / size
		if v.taken == n {
			return errShort
		}
		var whole [8]byte
		for i := range size {
			whole[i] = data[i*n+v.taken]
		}
		v.taken++
		v.fixed(whole[:size])
		return nil
	}
	return v.plain()
}

// place takes the next value by its place in the dictionary. A place outside of it is an error: the
// dictionary of a damaged file may be any.
func (v *values) place() error {
	i, ok := v.indexes.next()
	if !ok {
		return errShort
	}
	switch at := int(i); {
	case v.c.Kind == Number && at < len(v.numbers):
		v.number = v.numbers[at]
	case v.c.Kind == Text && at < len(v.texts):
		v.text = v.texts[at]
	case at < len(v.wholes) && v.c.Kind != Number && v.c.Kind != Text:
		v.whole = v.wholes[at]
	default:
		return errors.New("a value points outside of the dictionary")
	}
	return nil
}

// shortened takes the next text, of which the length is told elsewhere, and perhaps the
// beginning. All that are put together in a page may take what they might if they stood there.
func (v *values) shortened() error {
	data := v.page.data
	n, ok := v.deltas.next()
	if !ok || n < 0 || n > int64(len(data)) {
		return errShort
	}
	v.page.data = data[n:]
	if v.from == byLength {
		v.text = v.shared.met.Of(data[:n])
		return nil
	}
	shares, ok := v.prefixes.next()
	if !ok || shares < 0 || shares > int64(len(v.before)) {
		return errShort
	}
	v.before = append(v.before[:shares], data[:n]...)
	if v.written += len(v.before); v.written > maxPage {
		return fmt.Errorf("the texts of a page take more than %d bytes", maxPage)
	}
	v.text = v.shared.met.Of(v.before)
	return nil
}

// sizes are the bytes of a value of each physical type; those of text stand behind its length.
var sizes = [...]int{physInt32: 4, physInt64: 8, physInt96: 12, physFloat: 4, physDouble: 8, physBytes: 4}

// plain takes the next value where it stands as it is.
func (v *values) plain() error {
	data := v.page.data
	if v.c.physical == physBool {
		if len(data) == 0 {
			return errShort
		}
		v.whole = int64(data[0] >> v.bit & 1)
		if v.bit = (v.bit + 1) & 7; v.bit == 0 {
			v.page.data = data[1:]
		}
		return nil
	}
	size := sizes[v.c.physical]
	if len(data) < size {
		return errShort
	}
	if v.c.physical == physBytes {
		n := binary.LittleEndian.Uint32(data)
		if uint64(n) > uint64(len(data)-4) {
			return errShort
		}
		v.text = v.shared.met.Of(data[4 : 4+n])
		size += int(n)
	} else {
		v.fixed(data)
	}
	v.page.data = data[size:]
	return nil
}

// fixed takes in a value of a type whose values are equally long, the lowest byte first.
func (v *values) fixed(data []byte) {
	switch v.c.physical {
	case physInt32:
		v.whole = int64(int32(binary.LittleEndian.Uint32(data)))
	case physInt64:
		v.take64(binary.LittleEndian.Uint64(data))
	case physInt96:
		// Nanoseconds of the day, and the Julian day; 1970 began in day 2,440,588.
		nanos, day := int64(binary.LittleEndian.Uint64(data)), int64(int32(binary.LittleEndian.Uint32(data[8:])))
		if v.whole = noInstant; day >= 0 && day < 10_000_000 {
			v.whole = (day-2_440_588)*86_400_000_000 + nanos/1000
		}
	case physFloat:
		v.number = float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	case physDouble:
		v.number = math.Float64frombits(binary.LittleEndian.Uint64(data))
	}
}

// noInstant stands for instants that are further away than any of a log.
const noInstant = math.MinInt64 / 1000 * 1000

// take64 takes in eight bytes as the column means them: a number, or an instant, which becomes
// microseconds (rounded towards 0 from nanoseconds; noInstant if milliseconds are too many).
func (v *values) take64(x uint64) {
	switch {
	case v.c.unsigned:
		v.number = float64(x)
	case v.c.Kind == Instant && v.c.per < 1:
		v.whole = int64(x) / 1000
	case v.c.Kind == Instant && v.c.per > 1:
		v.whole = int64(x)
		if v.whole > math.MaxInt64/1000 || v.whole < math.MinInt64/1000 {
			v.whole = noInstant / 1000
		}
		v.whole *= 1000
	default:
		v.whole = int64(x)
	}
}

// Package parquetfile reads tables in Apache Parquet within bounded memory, whatever the
// file claims: it may come from anywhere. A page of each column is in memory at a time, and
// its values are decoded one by one, as they are asked for.
//
//	f, err := parquetfile.Open(file, size)
//	rows := f.Read(f.Find("submit_time"), f.Find("user_id"))
//	for rows.Next() {
//		submit, user := rows.Column(0), rows.Column(1)
//		if submit.Known() {
//			fmt.Println(submit.Whole(), user.Whole())
//		}
//	}
//	err = rows.Err()
//
//	file:   PAR1 | column chunks of row group 1 | ... of row group 2 | footer | its length | PAR1
//	chunk:  dictionary page? | data page | data page ...
//	page:   header | repetition levels | definition levels | values      (the latter packed)
//
// Read are columns of numbers, booleans, text and instants, and lists of these, in pages of
// both versions; packed by Snappy, gzip, zstd or LZ4 (LZ4_RAW); in all encodings of these types but that of
// BIT_PACKED levels, which is older than version 1. These are what pandas, Arrow, Spark, DuckDB and ClickHouse write,
// whichever version of the format they are told to. The definition is that of
// https://parquet.apache.org/docs/file-format.
package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Magic are the first bytes, and the last ones, of every file.
const Magic = "PAR1"

// Limits of what is taken into memory, far above what real files need.
const (
	maxFooter = 16 << 20  // bytes
	maxPage   = 64 << 20  // bytes of a page, unpacked
	maxMemory = 512 << 20 // bytes of the pages and dictionaries of all columns at a time
)

// Kind is the type of the values of a column.
type Kind uint8

const (
	Other   Kind = iota // nothing that is read here
	Whole               // integers, and 1 and 0 for true and false
	Number              // floating point, and integers of 64 bits without a sign
	Text                // bytes
	Instant             // microseconds since 1970
)

// Column is one of a table.
type Column struct {
	Name string // of the table's column; parts of structures are joined by points
	Kind Kind
	List bool // each row has any number of values
	// Local says that instants are those of a clock on the wall at a place that is not told.
	Local bool

	leaf     int     // its place among the columns, and in each row group
	physical int64   // one of the physical types below
	unsigned bool    // an integer of 64 bits without a sign
	per      float64 // microseconds a unit of an instant; 0 for INT96, which has a form of its own
	// repeats and defines are the highest repetition and definition level: how many of the elements
	// from the root of the schema down to it are repeated, and how many are optional or repeated. A
	// value is there if its definition level is defines, and begins a row if its repetition level is 0
	// (Dremel: Melnik et al., VLDB 2010, section 4.1).
	repeats, defines int
}

// Columnar is a table that a file has column by column.
type Columnar struct {
	Columns []Column          // the leaves of the schema, in its order
	rows    int64             // as the footer has it, which nothing depends on
	Keys    map[string]string // what its writer said, such as the schema of pandas

	in     io.ReaderAt
	end    int64   // of its pages, where the footer begins
	groups []group // in the order of the rows
}

// group is a row group: some successive rows of all columns.
type group struct {
	rows   int64
	chunks []chunk // one of each column, by leaf
}

// chunk is the part of a column in a group: size bytes of the file from the byte from on, packed by
// codec (CompressionCodec of parquet.thrift).
type chunk struct{ from, size, codec int64 }

// Open reads the footer of a file of that size in bytes.
func Open(in io.ReaderAt, size int64) (*Columnar, error) {
	const ends = 2*len(Magic) + 4
	if size < int64(ends) {
		return nil, errors.New("it is too short for a Parquet file")
	}
	// The ends of the file: the magic at both, and before the last one the length of the footer.
	var head [4]byte
	var tail [8]byte
	if err := readAt(in, head[:], 0); err != nil {
		return nil, err
	}
	if err := readAt(in, tail[:], size-8); err != nil {
		return nil, err
	}
	if string(head[:]) != Magic || string(tail[4:]) != Magic {
		return nil, errors.New("it does not begin and end as a Parquet file does: it is truncated, packed or encrypted")
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-int64(ends) {
		return nil, fmt.Errorf("its footer is said to take %d bytes of %d", length, size)
	}
	if length > maxFooter {
		return nil, fmt.Errorf("its footer takes %d bytes, more than %d", length, maxFooter)
	}
	// The footer, which is a FileMetaData.
	f := &Columnar{in: in, end: size - 8 - length, Keys: map[string]string{}}
	footer := make([]byte, length)
	if err := readAt(in, footer, f.end); err != nil {
		return nil, err
	}
	meta, _, err := structure(footer)
	if err == nil {
		err = f.take(&meta)
	}
	if err != nil {
		return nil, fmt.Errorf("its footer: %w", err)
	}
	return f, nil
}

// readAt fills p from byte at of the file; a file that is shorter is an error.
func readAt(in io.ReaderAt, p []byte, at int64) error {
	n, err := in.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// rowsPerByte bounds the rows of a file by its size. Equal values in a row take next to
// nothing, so that a few bytes could keep a reader busy for years; but the jobs of a log differ
// at least in their numbers or instants, and take about a byte each however well they are packed.
const rowsPerByte = 64

// take takes in what the footer says. Numbers of fields here and below are those of parquet.thrift
// (github.com/apache/parquet-format):
//
//	FileMetaData   2 schema      3 num_rows   4 row_groups   5 key_value_metadata
//	KeyValue       1 key         2 value
//	RowGroup       1 columns     3 num_rows
//	ColumnChunk    3 meta_data
func (f *Columnar) take(meta *node) error {
	schema := meta.at(2).list
	if len(schema) == 0 {
		return errors.New("it has no columns")
	}
	// The columns: the first element of the schema is its root.
	s := schemaReader{elements: schema[1:]}
	if err := s.children(schema[0].at(5).number, nil, 0, 0, false); err != nil {
		return err
	}
	if len(s.elements) > 0 {
		return errors.New("it has columns that belong nowhere")
	}
	f.Columns = s.columns
	f.rows = meta.at(3).number
	for _, kv := range meta.at(5).list {
		f.Keys[string(kv.at(1).bytes)] = string(kv.at(2).bytes)
	}
	// The row groups. None of their claims is believed that the size of the file does not allow.
	claimed := int64(0) // rows so far
	for i, g := range meta.at(4).list {
		chunks := g.at(1).list
		if len(chunks) != len(f.Columns) {
			return fmt.Errorf("row group %d has %d columns of %d", i+1, len(chunks), len(f.Columns))
		}
		taken := group{rows: g.at(3).number}
		if most := rowsPerByte * f.end; taken.rows < 0 || taken.rows > most-claimed {
			return fmt.Errorf("row group %d is said to have %d rows, and a file of %d bytes cannot have more than %d", i+1, taken.rows, f.end, most)
		}
		claimed += taken.rows
		for j := range chunks {
			c, err := f.chunk(chunks[j].at(3))
			if err != nil {
				return fmt.Errorf("row group %d, column %s: %w", i+1, f.Columns[j].Name, err)
			}
			taken.chunks = append(taken.chunks, c)
		}
		f.groups = append(f.groups, taken)
	}
	return nil
}

// chunk returns the place of a chunk by its ColumnMetaData: from the first of its pages (9
// data_page_offset, 11 dictionary_page_offset, which some writers leave 0) for 7
// total_compressed_size bytes; 4 is the codec. It must lie in front of the footer.
func (f *Columnar) chunk(meta *node) (chunk, error) {
	c := chunk{from: meta.at(9).number, size: meta.at(7).number, codec: meta.at(4).number}
	if dictionary := meta.at(11); dictionary.number > 0 {
		c.from = min(c.from, dictionary.number)
	}
	if c.from < 4 || c.size < 0 || c.from > f.end || c.size > f.end-c.from {
		return c, fmt.Errorf("it is said to take %d bytes from byte %d, of %d", c.size, c.from, f.end)
	}
	return c, nil
}

// schemaReader makes columns of the elements of a schema, which are a tree whose nodes
// stand before their children.
type schemaReader struct {
	elements []node   // those that are still to be read
	columns  []Column // those read so far
}

// children reads the next n elements, which are the children of one group, and all below them. path has
// the names of the elements above, repeats and defines their highest levels; list says that the group is
// a list or a map, of whose inner elements only the outermost name counts. Fields of a SchemaElement:
//
//	1 type (none: a group)   3 repetition_type: 0 required, 1 optional, 2 repeated   4 name
//	5 num_children           6 converted_type: 1 MAP, 3 LIST, ...                    10 logicalType: 2 MAP, 3 LIST, ...
func (s *schemaReader) children(n int64, path []string, repeats, defines int, list bool) error {
	if n < 0 || n > int64(len(s.elements)) || len(path) > maxDepth {
		return errThrift
	}
	for range n {
		if len(s.elements) == 0 {
			return errShort
		}
		e := s.elements[0]
		s.elements = s.elements[1:]
		r, d := repeats, defines
		switch e.at(3).number {
		case 1:
			d++
		case 2:
			r, d = r+1, d+1
		}
		name := append(slices.Clone(path), string(e.at(4).bytes))
		if list || r > repeats { // list.element and the like say nothing
			name = path
			if len(path) == 0 {
				name = []string{string(e.at(4).bytes)}
			}
		}
		if !e.has(1) { // a group
			isList := list || e.at(10).has(3) || e.has(6) && e.at(6).number == 3
			isMap := e.at(10).has(2) || e.has(6) && e.at(6).number == 1
			before := len(s.columns)
			if err := s.children(e.at(5).number, name, r, d, isList || isMap); err != nil {
				return err
			}
			for i := before; i < len(s.columns) && isMap; i++ { // maps are not read
				s.columns[i].Kind = Other
			}
			continue
		}
		c := Column{Name: strings.Join(name, "."), leaf: len(s.columns), repeats: r, defines: d, List: r > 0}
		c.describe(&e)
		s.columns = append(s.columns, c)
	}
	return nil
}

// The physical types (Type of parquet.thrift).
const (
	physBool   = 0
	physInt32  = 1
	physInt64  = 2
	physInt96  = 3
	physFloat  = 4
	physDouble = 5
	physBytes  = 6
	physFixed  = 7 // of a size that the schema tells; not read
)

// describe takes the type from an element of the schema. What the values mean stands in the logical
// type, or in older files in the converted type alone:
//
//	logicalType      5 DECIMAL   8 TIMESTAMP: 1 isAdjustedToUTC, 2 unit (1 ms, 2 us, 3 ns)   10 INTEGER: 1 bitWidth, 2 isSigned
//	converted_type   5 DECIMAL   9 TIMESTAMP_MILLIS   10 TIMESTAMP_MICROS   14 UINT_64
func (c *Column) describe(e *node) {
	c.physical = e.at(1).number
	logical, converted := e.at(10), int64(-1)
	if e.has(6) {
		converted = e.at(6).number
	}
	switch c.physical {
	case physBool, physInt32:
		c.Kind = Whole
	case physInt64:
		c.Kind = Whole
		stamp := logical.at(8)
		unit := stamp.at(2)
		switch {
		case unit.has(1), converted == 9:
			c.Kind, c.per = Instant, 1e3
		case unit.has(2), converted == 10:
			c.Kind, c.per = Instant, 1
		case unit.has(3):
			c.Kind, c.per = Instant, 1e-3
		case logical.has(10) && logical.at(10).at(1).number == 64 && logical.at(10).at(2).number == 0, converted == 14:
			c.Kind, c.unsigned = Number, true
		}
		c.Local = c.Kind == Instant && logical.has(8) && stamp.at(1).number == 0
	case physInt96: // deprecated, and of nothing but instants; Spark and Impala wrote it
		c.Kind = Instant
	case physFloat, physDouble:
		c.Kind = Number
	case physBytes:
		c.Kind = Text
	}
	if converted == 5 || logical.has(5) || c.repeats > 1 { // decimals, lists of lists
		c.Kind = Other
	}
}

// Find is the place of a column, or -1.
func (f *Columnar) Find(name string) int {
	return slices.IndexFunc(f.Columns, func(c Column) bool { return c.Name == name })
}

// Write makes the files of this folder with parquet-go, which is not the library that the tests
// test. The module does not require parquet-go; so run it in a copy of the module:
//
//	go get github.com/parquet-go/parquet-go@v0.32.0
//	go run write.go
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// row has a column of each kind. The test has the same type without tags of Parquet.
type row struct {
	Yes    bool       `parquet:"yes"`
	Small  *int32     `parquet:"small,optional"`
	Large  *int64     `parquet:"large,optional,dict"`
	Huge   uint64     `parquet:"huge"`
	Single float32    `parquet:"single"`
	Double *float64   `parquet:"double,optional,dict"`
	Text   *string    `parquet:"text,optional,dict"`
	Plain  string     `parquet:"plain,plain"`
	When   time.Time  `parquet:"when,timestamp(millisecond)"`
	Fine   *time.Time `parquet:"fine,optional,timestamp(nanosecond)"`
	Watts  []float64  `parquet:"watts,list"`
	Nodes  []string   `parquet:"nodes,dict"`
	Step   int64      `parquet:"step,delta"`
	Short  int32      `parquet:"short,delta"`
	Shared string     `parquet:"shared,delta"`
	Split  float64    `parquet:"split,split"`
	Halves float32    `parquet:"halves,split"`
}

var random = rand.New(rand.NewPCG(1, 2))

// maybe returns nil for one value in three.
func maybe[T any](v T) *T {
	if random.IntN(3) == 0 {
		return nil
	}
	return &v
}

// whole returns an integer of at most so many bits, and often an extreme one.
func whole(bits int) int64 {
	most := int64(math.MaxInt64) >> (64 - bits)
	switch random.IntN(6) {
	case 0:
		return most
	case 1:
		return -most - 1
	case 2:
		return 0
	}
	return int64(random.Uint64()) >> (64 - 1 - random.IntN(bits))
}

func number() float64 {
	switch random.IntN(6) {
	case 0:
		return math.MaxFloat64
	case 1:
		return -math.SmallestNonzeroFloat64
	case 2:
		return 0
	}
	return random.NormFloat64() * math.Pow(10, float64(random.IntN(60)-30))
}

func word() string {
	var b strings.Builder
	for range random.IntN(7) {
		b.WriteRune([]rune("ab,é")[random.IntN(4)])
	}
	return b.String()
}

func instant() time.Time { return time.UnixMicro(random.Int64N(5e15) - 1e15).UTC() }

func drawn() row {
	r := row{
		Yes: random.IntN(2) == 0, Small: maybe(int32(whole(32))), Large: maybe(whole(64)), Huge: uint64(whole(64)),
		Single: float32(math.Mod(number(), math.MaxFloat32)), Double: maybe(number()), Text: maybe(word()), Plain: word(),
		When: instant().Truncate(time.Millisecond), Fine: maybe(instant()),
		Step: whole(64), Short: int32(whole(32)), Shared: word(), Split: number(), Halves: float32(random.NormFloat64()),
	}
	for range random.IntN(6) {
		r.Watts = append(r.Watts, float64(random.IntN(1000)))
	}
	for range random.IntN(4) {
		r.Nodes = append(r.Nodes, word())
	}
	return r
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func save(name string, data []byte) {
	must(os.WriteFile(name, data, 0o666))
	fmt.Println(name, len(data))
}

func written[T any](rows []T, options ...parquet.WriterOption) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, options...)
	_, err := w.Write(rows)
	must(err)
	must(w.Close())
	return out.Bytes()
}

type equal struct {
	N int64 `parquet:"n,dict"`
}

func main() {
	// Rows with a column of each kind, in the ways of packing, pages and row groups. Row i of
	// each file is row i mod 23 of rows.json.
	var rows []row
	for range 23 {
		rows = append(rows, drawn())
	}
	text, err := json.MarshalIndent(rows, "", "")
	must(err)
	save("rows.json", append(text, '\n'))
	codecs := []struct {
		name  string
		codec compress.Codec
	}{{"plain", &parquet.Uncompressed}, {"snappy", &parquet.Snappy}, {"gzip", &parquet.Gzip}, {"zstd", &parquet.Zstd}, {"lz4", &parquet.Lz4Raw}}
	save("rows-0.parquet", written([]row{}))
	save("rows-1.parquet", written(rows[:1]))
	for i := range 2 * len(codecs) { // all pairs of a page's and a group's size
		page, group, n := []int{64, 1000, 1 << 20}[i%3], []int64{5, 40, 1 << 20}[i/3%3], 41
		switch {
		case group == 5:
			n = 7
		case group > 40 && page > 64:
			n = 150
		}
		var all []row
		for k := range n {
			all = append(all, rows[k%len(rows)])
		}
		c := codecs[i/2]
		save(fmt.Sprintf("rows-%s-v%d-page%d-group%d-%d.parquet", c.name, i%2+1, page, group, n), written(all,
			parquet.Compression(c.codec), parquet.DataPageVersion(i%2+1), parquet.PageBufferSize(page), parquet.MaxRowsPerRowGroup(group)))
	}
	save("brotli.parquet", written(rows[:3], parquet.Compression(&parquet.Brotli)))

	// Many equal values take next to nothing, so these claim more rows than a file of their size has.
	save("equal-1000.parquet", written(make([]equal, 1000)))
	save("equal-1000000.parquet", written(make([]equal, 1_000_000)))
	var out bytes.Buffer
	w := parquet.NewGenericWriter[equal](&out)
	for range 2 {
		_, err := w.Write(make([]equal, equalRows))
		must(err)
		must(w.Flush())
	}
	must(w.Close())
	save("equal-groups.parquet", out.Bytes())

	// A row group of 60 columns. The test repeats it.
	fields, many := parquet.Group{}, parquet.Row{}
	for c := range 60 {
		fields[fmt.Sprintf("c%02d", c)] = parquet.Leaf(parquet.Int64Type)
		many = append(many, parquet.Int64Value(int64(c)).Level(0, 0, c))
	}
	out.Reset()
	rowWriter := parquet.NewWriter(&out, parquet.NewSchema("t", fields))
	_, err = rowWriter.WriteRows([]parquet.Row{many})
	must(err)
	must(rowWriter.Close())
	save("group.parquet", out.Bytes())

	// A value inside of a structure; the structure or the value may be missing.
	type inner struct {
		B *int64 `parquet:"b,optional"`
	}
	type outer struct {
		A *inner `parquet:"a,optional"`
	}
	seven := int64(7)
	save("structure.parquet", written([]outer{{}, {&inner{}}, {&inner{&seven}}}))

	// Texts by lengths and by what they share, and differences, all of which may be missing.
	var words []string
	for range 300 {
		text := ""
		if random.IntN(2) == 0 {
			text = fmt.Sprintf("rack%d-", random.IntN(10))
		}
		for range random.IntN(6) {
			text += string(rune('a' + random.IntN(26)))
		}
		words = append(words, text)
	}
	save("words.txt", []byte(strings.Join(words, "\n")+"\n"))
	out.Reset()
	rowWriter = parquet.NewWriter(&out, parquet.NewSchema("t", parquet.Group{
		"by length": parquet.Optional(parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray)),
		"by prefix": parquet.Optional(parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)),
		"hashes":    parquet.Optional(parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)),
		"lists":     parquet.Repeated(parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)),
	}), parquet.PageBufferSize(256))
	for i, word := range words {
		row := parquet.Row{parquet.NullValue().Level(0, 0, 0), parquet.NullValue().Level(0, 0, 1), parquet.NullValue().Level(0, 0, 2), parquet.NullValue().Level(0, 0, 3)}
		if i%5 != 4 {
			row = parquet.Row{
				parquet.ByteArrayValue([]byte(word)).Level(0, 1, 0), parquet.ByteArrayValue([]byte(word)).Level(0, 1, 1),
				parquet.Int64Value(int64(crc32.ChecksumIEEE([]byte(word)))).Level(0, 1, 2), parquet.Int32Value(int32(i)).Level(0, 1, 3), parquet.Int32Value(-1).Level(1, 1, 3),
			}
		}
		_, err := rowWriter.WriteRows([]parquet.Row{row})
		must(err)
	}
	must(rowWriter.Close())
	save("words.parquet", out.Bytes())
}

// equalRows is a number of rows that one group may have in a file of this size, and two may not.
const equalRows = 10_000

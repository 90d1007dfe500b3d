package parquetfile

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// row has a column of each kind; the library that writes it is not the one that reads.
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

var codecs = []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Lz4Raw}

func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if rapid.Bool().Draw(t, label+" given") {
		v := g.Draw(t, label)
		return &v
	}
	return nil
}

var columns = []string{"yes", "small", "large", "huge", "single", "double", "text", "plain", "when", "fine", "watts", "nodes", "step", "short", "shared", "split", "halves"}

func written(t require.TestingT, rows []row, options ...parquet.WriterOption) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, options...)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func read(t require.TestingT, data []byte) *Rows {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	var places []int
	for _, name := range columns {
		require.NotEqual(t, -1, f.Find(name), name)
		places = append(places, f.Find(name))
	}
	return f.Read(places...)
}

func TestWhatAnotherLibraryWritesIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOf(rapid.SampledFrom([]rune("ab,é")))
		var rows []row
		for range rapid.SampledFrom([]int{0, 1, 7, 300, 1000}).Draw(t, "rows") {
			if len(rows) > 20 { // the same again, for pages with much in them
				rows = append(rows, rows[len(rows)%20])
				continue
			}
			instant := rapid.Map(rapid.Int64Range(-1e15, 4e15), func(us int64) time.Time { return time.UnixMicro(us).UTC() })
			rows = append(rows, row{
				Yes: rapid.Bool().Draw(t, "yes"), Small: optional(t, rapid.Int32(), "small"), Large: optional(t, rapid.Int64(), "large"),
				Huge: rapid.Uint64().Draw(t, "huge"), Single: rapid.Float32().Draw(t, "single"), Double: optional(t, rapid.Float64(), "double"),
				Text: optional(t, word, "text"), Plain: word.Draw(t, "plain"), When: instant.Draw(t, "when").Truncate(time.Millisecond), Fine: optional(t, instant, "fine"),
				Watts: rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 999), func(i int) float64 { return float64(i) }), 0, 5).Draw(t, "watts"),
				Nodes: rapid.SliceOfN(word, 0, 3).Draw(t, "nodes"),
				Step:  rapid.Int64().Draw(t, "step"), Short: rapid.Int32().Draw(t, "short"), Shared: word.Draw(t, "shared"),
				Split: rapid.Float64().Draw(t, "split"), Halves: rapid.Float32().Draw(t, "halves"),
			})
		}
		codec := rapid.SampledFrom(codecs).Draw(t, "codec")
		data := written(t, rows,
			parquet.Compression(codec), parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
			parquet.PageBufferSize(rapid.SampledFrom([]int{64, 1000, 1 << 20}).Draw(t, "page")),
			parquet.MaxRowsPerRowGroup(rapid.SampledFrom([]int64{5, 100, 1 << 20}).Draw(t, "group")))
		got := read(t, data)
		for i, want := range rows {
			require.True(t, got.Next(), "%v", got.Err())
			require.EqualValues(t, i+1, got.Row())
			require.Equal(t, want.Yes, got.Column(0).Whole() == 1)
			require.Equal(t, want.Small != nil, got.Column(1).Known())
			if want.Small != nil {
				require.EqualValues(t, *want.Small, got.Column(1).Whole())
			}
			require.Equal(t, want.Large != nil, got.Column(2).Known())
			if want.Large != nil {
				require.Equal(t, *want.Large, got.Column(2).Whole())
			}
			require.Equal(t, float64(want.Huge), got.Column(3).Number())
			require.Equal(t, float64(want.Single), got.Column(4).Number())
			require.Equal(t, want.Double != nil, got.Column(5).Known())
			if want.Double != nil {
				require.Equal(t, *want.Double, got.Column(5).Number())
			}
			require.Equal(t, want.Text != nil, got.Column(6).Known())
			if want.Text != nil {
				require.Equal(t, *want.Text, got.Column(6).Text())
			}
			require.Equal(t, want.Plain, got.Column(7).Text())
			require.Equal(t, want.When.UnixMicro(), got.Column(8).Whole())
			require.Equal(t, want.Fine != nil, got.Column(9).Known())
			if want.Fine != nil {
				require.Equal(t, want.Fine.UnixNano()/1000, got.Column(9).Whole())
			}
			sum := 0.0
			for _, w := range want.Watts {
				sum += w
			}
			require.EqualValues(t, len(want.Watts), got.Column(10).Count())
			require.Equal(t, sum, got.Column(10).Number())
			require.Equal(t, strings.Join(want.Nodes, ","), got.Column(11).Text())
			require.Equal(t, len(want.Nodes) > 0, got.Column(11).Known())
			require.Equal(t, want.Step, got.Column(12).Whole())
			require.EqualValues(t, want.Short, got.Column(13).Whole())
			require.Equal(t, want.Shared, got.Column(14).Text())
			require.Equal(t, want.Split, got.Column(15).Number())
			require.Equal(t, float64(want.Halves), got.Column(16).Number())
		}
		require.False(t, got.Next())
		require.NoError(t, got.Err())
		require.EqualValues(t, len(rows), got.Row())
	})
}

func sample(t require.TestingT, options ...parquet.WriterOption) []byte {
	var rows []row
	for i := range 500 {
		small, text := int32(i%7), fmt.Sprint("text ", i%5)
		rows = append(rows, row{
			Yes: i%2 == 0, Small: &small, Text: &text, Plain: text, Single: float32(i), Watts: []float64{1, 2}, Nodes: []string{"a"},
			Step: int64(i * i), Short: small, Shared: text, Split: 1 / float64(i+1), Halves: float32(i),
		})
	}
	return written(t, rows, append([]parquet.WriterOption{parquet.PageBufferSize(512), parquet.MaxRowsPerRowGroup(200)}, options...)...)
}

// drained reads whatever can be read, and gives back the rows and the error.
func drained(data []byte) (rows int64, err error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	var all []int
	for i, c := range f.Columns {
		if c.Kind != Other {
			all = append(all, i)
		}
	}
	r := f.Read(all...)
	for r.Next() && r.Row() < 1_000_000 { // a run may be as long as it likes
	}
	return r.Row(), r.Err()
}

func TestATruncatedFileIsAnError(t *testing.T) {
	data := sample(t)
	for _, n := range []int{0, 3, 8, 11, 12, 100, len(data) / 2, len(data) - 1} {
		_, err := drained(data[:n])
		require.Error(t, err, n)
	}
	rows, err := drained(data)
	require.NoError(t, err)
	require.EqualValues(t, 500, rows)
}

func TestWhatAFooterClaimsIsHeldAgainstTheFile(t *testing.T) {
	data := sample(t)
	long := append([]byte(nil), data...)
	copy(long[len(long)-8:], "\xff\xff\xff\x7f")
	_, err := drained(long)
	require.ErrorContains(t, err, "its footer is said to take 2147483647 bytes")
	// A list of 2^31 - 1 columns.
	_, err = drained([]byte("PAR1\x29\xfc\xff\xff\xff\xff\x07\x00\x08\x00\x00\x00PAR1"))
	require.ErrorContains(t, err, "it ends too early")
}

func TestBytesThatAreChangedNeverTakeMuchMemory(t *testing.T) {
	var files [][]byte
	for _, codec := range codecs {
		files = append(files, sample(t, parquet.Compression(codec)))
	}
	failed := 0
	rapid.Check(t, func(t *rapid.T) {
		damaged := append([]byte(nil), rapid.SampledFrom(files).Draw(t, "file")...)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			damaged[rapid.IntRange(4, len(damaged)-9).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := drained(damaged)
		runtime.ReadMemStats(&after)
		if err != nil {
			failed++
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(300<<20))
	})
	require.Positive(t, failed)
}

func TestRowsThatPagesDoNotHaveAreAnError(t *testing.T) {
	data := sample(t)
	for _, claim := range []int64{201, 1 << 40, 199, 0, -1} {
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		f.groups[0].rows = claim
		r := f.Read(f.Find("plain"))
		for r.Next() {
		}
		require.ErrorContains(t, r.Err(), "row", claim)
		require.LessOrEqual(t, r.Row(), int64(200))
	}
}

func TestMoreRowsThanAFileCanHaveAreRefused(t *testing.T) {
	type equal struct {
		N int64 `parquet:"n,dict"`
	}
	for rows, fine := range map[int]bool{1_000: true, 1_000_000: false} {
		var out bytes.Buffer
		w := parquet.NewGenericWriter[equal](&out)
		_, err := w.Write(make([]equal, rows))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		_, err = Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if fine {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "is said to have 1000000 rows, and a file of")
	}
}

func TestRowsOfAllGroupsAreHeldAgainstTheFile(t *testing.T) {
	type equal struct {
		N int64 `parquet:"n,dict"`
	}
	var err error
	for rows := 500; err == nil; rows += 250 {
		require.Less(t, rows, 1_000_000)
		var out bytes.Buffer
		w := parquet.NewGenericWriter[equal](&out)
		for range 2 {
			_, err := w.Write(make([]equal, rows))
			require.NoError(t, err)
			require.NoError(t, w.Flush())
		}
		require.NoError(t, w.Close())
		_, err = Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	}
	require.ErrorContains(t, err, "row group 2 is said to have", "the first alone is not too large")
}

func TestManyGroupsOfManyColumnsAreRead(t *testing.T) {
	const columns, rows = 60, 200
	fields, row := parquet.Group{}, parquet.Row{}
	for c := range columns {
		fields[fmt.Sprintf("c%02d", c)] = parquet.Leaf(parquet.Int64Type)
		row = append(row, parquet.Int64Value(int64(c)).Level(0, 0, c))
	}
	var out bytes.Buffer
	w := parquet.NewWriter(&out, parquet.NewSchema("t", fields), parquet.MaxRowsPerRowGroup(1))
	for range rows {
		_, err := w.WriteRows([]parquet.Row{row})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	got, err := drained(out.Bytes())
	require.NoError(t, err)
	require.EqualValues(t, rows, got)
}

func TestPackingThatIsNotReadIsNamed(t *testing.T) {
	_, err := drained(sample(t, parquet.Compression(&parquet.Brotli)))
	require.ErrorContains(t, err, "it is packed by Brotli; write it with Snappy, gzip, zstd or LZ4_RAW")
}

func TestRunsOfAnyLengthTakeNoMemory(t *testing.T) {
	r := runs{b: []byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 3}, bits: 2} // 2^31 - 1 times 3
	require.Zero(t, testing.AllocsPerRun(10, func() {              // some, or an allocation of the runtime counts
		for range 1000 {
			if v, ok := r.next(); !ok || v != 3 {
				t.Fatal(v, ok)
			}
		}
	}))
	require.EqualValues(t, math.MaxInt32-11_000, r.left, "one call warms up")
}

func FuzzParquet(f *testing.F) {
	for _, codec := range codecs {
		f.Add(sample(f, parquet.Compression(codec)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := drained(data)
		if err == nil {
			require.GreaterOrEqual(t, rows, int64(0))
		}
	})
}

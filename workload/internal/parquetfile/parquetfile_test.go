package parquetfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// row has a column of each kind. testdata/write.go says how files hold them.
type row struct {
	Yes    bool
	Small  *int32
	Large  *int64
	Huge   uint64
	Single float32
	Double *float64
	Text   *string
	Plain  string
	When   time.Time
	Fine   *time.Time
	Watts  []float64
	Nodes  []string
	Step   int64
	Short  int32
	Shared string
	Split  float64
	Halves float32
}

var columns = []string{"yes", "small", "large", "huge", "single", "double", "text", "plain", "when", "fine", "watts", "nodes", "step", "short", "shared", "split", "halves"}

// file returns a file of testdata. Another library has written it.
func file(t require.TestingT, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

// rowFiles returns the names of the files of rows in all ways of packing, pages and row groups.
func rowFiles(t require.TestingT) []string {
	paths, err := filepath.Glob("testdata/rows-*.parquet")
	require.NoError(t, err)
	require.Len(t, paths, 12)
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths
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
	var drawn []row
	require.NoError(t, json.Unmarshal(file(t, "rows.json"), &drawn))
	for _, name := range rowFiles(t) {
		text := strings.TrimSuffix(name[strings.LastIndex(name, "-")+1:], ".parquet")
		rows, err := strconv.Atoi(text)
		require.NoError(t, err)
		got := read(t, file(t, name))
		for i := range rows {
			want := drawn[i%len(drawn)]
			require.True(t, got.Next(), "%s: %v", name, got.Err())
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
		require.EqualValues(t, rows, got.Row())
	}
}

// sample has 41 rows in groups of 40, and pages of 64 bytes.
const sample = "rows-snappy-v2-page64-group40-41.parquet"

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
	data := file(t, sample)
	for _, n := range []int{0, 3, 8, 11, 12, 100, len(data) / 2, len(data) - 1} {
		_, err := drained(data[:n])
		require.Error(t, err, n)
	}
	rows, err := drained(data)
	require.NoError(t, err)
	require.EqualValues(t, 41, rows)
}

func TestWhatAFooterClaimsIsHeldAgainstTheFile(t *testing.T) {
	data := file(t, sample)
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
	for _, name := range rowFiles(t) {
		files = append(files, file(t, name))
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
	data := file(t, sample)
	for _, claim := range []int64{41, 1 << 40, 39, 0, -1} {
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		f.groups[0].rows = claim
		r := f.Read(f.Find("plain"))
		for r.Next() {
		}
		require.ErrorContains(t, r.Err(), "row", claim)
		require.LessOrEqual(t, r.Row(), int64(40))
	}
}

func TestMoreRowsThanAFileCanHaveAreRefused(t *testing.T) {
	open := func(name string) error {
		data := file(t, name)
		_, err := Open(bytes.NewReader(data), int64(len(data)))
		return err
	}
	require.NoError(t, open("equal-1000.parquet"))
	require.ErrorContains(t, open("equal-1000000.parquet"), "is said to have 1000000 rows, and a file of")
	require.ErrorContains(t, open("equal-groups.parquet"), "row group 2 is said to have", "the first alone is not too large")
}

func TestManyGroupsOfManyColumnsAreRead(t *testing.T) {
	const columns, rows = 60, 200
	data := file(t, "group.parquet")
	footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	// The footer has a list of one row group, which begins with a list of columns. An empty list
	// and the writer's name stand behind it.
	groups := footer + bytes.Index(data[footer:], []byte{0x19, 0x1c, 0x19, 0xfc, columns})
	end := groups + bytes.Index(data[groups:], []byte("parquet-go")) - len("\x19\x0c\x18\x37github.com/")
	require.Greater(t, groups, footer)
	var many []byte
	many = append(many, data[footer:groups]...)
	many = append(many, 0x19, 0xfc)
	many = binary.AppendUvarint(many, rows)
	many = append(many, bytes.Repeat(data[groups+2:end], rows)...)
	many = append(many, data[end:len(data)-8]...)
	whole := append(slices.Clone(data[:footer]), many...)
	whole = append(binary.LittleEndian.AppendUint32(whole, uint32(len(many))), Magic...)
	got, err := drained(whole)
	require.NoError(t, err)
	require.EqualValues(t, rows, got)
}

func TestPackingThatIsNotReadIsNamed(t *testing.T) {
	_, err := drained(file(t, "brotli.parquet"))
	require.ErrorContains(t, err, "it is packed by Brotli; write it with Snappy, gzip, zstd or LZ4_RAW")
}

func TestRunsOfAnyLengthTakeNoMemory(t *testing.T) {
	r := runs{b: []byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 3}, bits: 2} // 2^31 - 1 times 3
	// Several runs, or one allocation of the runtime beside them would count.
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for range 1000 {
			if v, ok := r.next(); !ok || v != 3 {
				t.Fatal(v, ok)
			}
		}
	}))
	require.EqualValues(t, math.MaxInt32-11_000, r.left, "one call warms up")
}

func FuzzParquet(f *testing.F) {
	for _, name := range rowFiles(f) {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := drained(data)
		if err == nil {
			require.GreaterOrEqual(t, rows, int64(0))
		}
	})
}

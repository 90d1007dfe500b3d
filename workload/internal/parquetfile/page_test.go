package parquetfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// dataPage is a page of values without levels that claims to have so many bytes.
func dataPage(unpacked int, stored []byte) *pages {
	head := []byte{0x15, 0, 0x15}
	head = binary.AppendVarint(head, int64(unpacked))
	head = append(head, 0x15)
	head = binary.AppendVarint(head, int64(len(stored)))
	head = append(head, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0) // a value, plain
	data := append(head, stored...)
	return &pages{in: bytes.NewReader(data), c: &Column{}, end: int64(len(data)), shared: &shared{}}
}

func packedBy(t *testing.T, codec int64, data []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch codec {
	case 0:
		return data
	case 1:
		return snappy.Encode(nil, data)
	case 2:
		w = gzip.NewWriter(&out)
	case 6:
		var err error
		w, err = zstd.NewWriter(&out)
		require.NoError(t, err)
	case 7:
		return lz4(data)
	}
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// lz4 packs data into a block of LZ4. As the format wants it, the last match begins 12 bytes or
// more before the end, and the last 5 bytes are literals.
func lz4(data []byte) []byte {
	var out []byte
	length := func(n int) {
		for ; n >= 255; n -= 255 {
			out = append(out, 255)
		}
		out = append(out, byte(n))
	}
	sequence := func(literals []byte, offset, match int) {
		out = append(out, byte(min(len(literals), 15)<<4|min(max(match-4, 0), 15)))
		if len(literals) >= 15 {
			length(len(literals) - 15)
		}
		out = append(out, literals...)
		if match == 0 {
			return
		}
		out = append(out, byte(offset), byte(offset>>8))
		if match-4 >= 15 {
			length(match - 4 - 15)
		}
	}
	latest := map[string]int{} // where four bytes stood last
	from := 0
	for at := 0; at+12 < len(data); {
		four := string(data[at : at+4])
		before, seen := latest[four]
		latest[four] = at
		if !seen || at-before > math.MaxUint16 {
			at++
			continue
		}
		match := 4
		for at+match < len(data)-5 && data[before+match] == data[at+match] {
			match++
		}
		sequence(data[from:at], at-before, match)
		at += match
		from = at
	}
	sequence(data[from:], 0, 0)
	return out
}

func TestAPageMustHaveTheSizeThatItClaims(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 100)
	for _, codec := range []int64{0, 1, 2, 6, 7} {
		for _, claim := range []int{len(content), len(content) - 1, len(content) + 1, 0} {
			p := dataPage(claim, packedBy(t, codec, content))
			p.codec = codec
			got, err := p.next()
			if claim != len(content) {
				require.ErrorIs(t, err, errUnpack, "%d: %d", codec, claim)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, content, got.data)
			require.EqualValues(t, 1, got.values)
		}
	}
}

func TestBlocksOfLZ4AreUnpacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching("[a-c]{1,9}"), 1, 9).Draw(t, "words")
		var content []byte
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(words)-1), 0, 999).Draw(t, "text") {
			content = append(content, words[i]...)
			if rapid.Bool().Draw(t, "far") { // a letter of its own between two matches
				content = append(content, rapid.Byte().Draw(t, "letter"))
			}
		}
		p := dataPage(len(content), lz4(content))
		p.codec = 7
		got, err := p.next()
		require.NoError(t, err)
		require.Equal(t, string(content), string(got.data))
	})
	// A letter and the shortest match, of four letters 65,535 back, again and again.
	content := bytes.Repeat([]byte{'a'}, 1<<16)
	block := append([]byte{0xf0}, bytes.Repeat([]byte{255}, (len(content)-15)/255)...)
	block = append(append(block, byte((len(content)-15)%255)), content...)
	block = append(block, 0xff, 0xff)
	content = append(content, content[1:5]...)
	for range 5000 {
		content = append(content, 'x')
		content = append(content, content[len(content)-65535:][:4]...)
		block = append(block, 0x10, 'x', 0xff, 0xff)
	}
	content, block = append(content, "yyyyy"...), append(block, "\x50yyyyy"...)
	p := dataPage(len(content), block)
	p.codec = 7
	got, err := p.next()
	require.NoError(t, err)
	require.Equal(t, content, got.data)
}

func TestAPageOfMoreThanAnyHasIsRefused(t *testing.T) {
	_, err := dataPage(maxPage+1, []byte("x")).next()
	require.ErrorContains(t, err, "a page takes 67108865 bytes, more than 67108864")
}

func TestABombIsNotUnpacked(t *testing.T) {
	bomb := make([]byte, 200<<20)
	for _, codec := range []int64{2, 6, 7} {
		p := dataPage(10, packedBy(t, codec, bomb))
		p.codec = codec
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := p.next()
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, errUnpack)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), codec)
	}
}

func TestADictionaryOfMoreThanAnyHasIsRefused(t *testing.T) {
	v := &values{c: &Column{Kind: Whole, physical: physInt32}, shared: &shared{}}
	err := v.dictionary(&page{values: math.MaxInt32, data: make([]byte, 4*maxDictionary+4)})
	require.ErrorContains(t, err, "its dictionary has more than 4194304 values")
}

func TestPagesOfAllColumnsShareTheMemory(t *testing.T) {
	all := &shared{memory: maxMemory - 100}
	v := &values{c: &Column{Kind: Whole}, shared: all, wholes: make([]int64, 12)}
	require.NoError(t, v.account())
	v.wholes = make([]int64, 13)
	require.ErrorContains(t, v.account(), "take more than 536870912 bytes at a time")
	v.wholes = nil
	require.NoError(t, v.account())
	require.Equal(t, maxMemory-100, all.memory)
}

func TestManySmallValuesOfAFooterAreRefused(t *testing.T) {
	text := []byte{0x19, 0xf3} // a list of bytes
	text = binary.AppendUvarint(text, maxNodes)
	text = append(append(text, make([]byte, maxNodes)...), 0)
	_, _, err := structure(text)
	require.ErrorIs(t, err, errTooBig)
}

func TestAWrongChecksumIsTold(t *testing.T) {
	head := []byte{0x15, 0, 0x15, 2, 0x15, 2, 0x15, 2, 0x1c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0} // the checksum 1
	data := append(head, 'x')
	p := &pages{in: bytes.NewReader(data), c: &Column{}, end: int64(len(data)), shared: &shared{}}
	_, err := p.next()
	require.ErrorContains(t, err, "the checksum of a page is wrong")
}

func TestAChunkThatIsSaidToReachBeyondThePagesIsRefused(t *testing.T) {
	meta := func(from, size int64) *node {
		return &node{fields: []field{{9, node{number: from}}, {7, node{number: size}}}}
	}
	f := &Columnar{end: 1000}
	_, err := f.chunk(meta(4, 996))
	require.NoError(t, err)
	for _, wrong := range [][2]int64{{4, 997}, {3, 10}, {1001, 0}, {-1, 1}, {4, -1}, {4, math.MaxInt64}, {math.MaxInt64, 1}} {
		_, err := f.chunk(meta(wrong[0], wrong[1]))
		require.ErrorContains(t, err, "it is said to take", wrong)
	}
}

func TestAPartOfAStructureIsKnownWhereAllAroundItIs(t *testing.T) {
	data := file(t, "structure.parquet")
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Equal(t, "a.b", f.Columns[0].Name)
	r := f.Read(0)
	for _, known := range []bool{false, false, true} {
		require.True(t, r.Next())
		require.Equal(t, known, r.Column(0).Known())
	}
	require.EqualValues(t, 7, r.Column(0).Whole())
	require.False(t, r.Next())
	require.NoError(t, r.Err())
}

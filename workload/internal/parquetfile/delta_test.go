package parquetfile

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func numbersOf(t require.TestingT, b []byte, n int) []int64 {
	var d deltas
	require.NoError(t, d.begin(b, int64(n)))
	var all []int64
	for {
		x, ok := d.next()
		if !ok {
			return all
		}
		all = append(all, x)
	}
}

func TestDifferencesOfAnySizeAreAddedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]*rapid.Generator[int64]{rapid.Int64(), rapid.Int64Range(-3, 3), rapid.Int64Range(0, 1<<40), rapid.Just(int64(math.MinInt64))}).Draw(t, "kind")
		want := rapid.SliceOfN(some, 1, 400).Draw(t, "numbers")
		b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
		require.NoError(t, err)
		require.Equal(t, want, numbersOf(t, b, len(want)))
		var d deltas
		require.NoError(t, d.begin(append(b, "behind"...), int64(len(want))))
		rest, err := d.end()
		require.NoError(t, err)
		require.Equal(t, "behind", string(rest))
	})
}

// The example of Encodings.md: 7, 5, 3, 1, 2, 3, 4, 5 is 7 and the differences -2 -2 -2 1 1 1 1,
// in blocks of 8 of one part here, of 2 bits over the least of -2.
func TestTheExampleOfTheFormat(t *testing.T) {
	b := []byte{8, 1, 8, 14 /* 7 */, 3 /* -2 */, 2, 0b11_00_00_00, 0b00_11_11_11}
	require.Equal(t, []int64{7, 5, 3, 1, 2, 3, 4, 5}, numbersOf(t, b, 8))
	var d deltas
	require.NoError(t, d.begin(b[:7], 8))
	_, err := d.end()
	require.ErrorIs(t, err, errShort)

	require.NoError(t, d.begin(append([]byte{8, 1, 8, 14, 3, 65}, make([]byte, 65)...), 8))
	_, err = d.end()
	require.ErrorIs(t, err, errShort, "no number takes more than 64 bits")
}

func TestHeadingsOfDifferencesThatCannotBeAreErrors(t *testing.T) {
	for want, b := range map[string][]byte{
		"it ends too early":                             {8, 1, 8},
		"blocks of 0 in 1 parts":                        {0, 1, 8, 0},
		"blocks of 8 in 0 parts":                        {8, 0, 8, 0},
		"blocks of 24 in 2 parts":                       {24, 2, 8, 0},
		"blocks of 131072 in 1 parts":                   {0x80, 0x80, 8, 1, 8, 0},
		"a page of 5 values is said to have 8":          {8, 1, 8, 0},
		"is said to have 18446744073709551615 differen": {8, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0},
	} {
		require.ErrorContains(t, new(deltas).begin(b, 5), want)
	}
	require.ErrorContains(t, new(deltas).begin([]byte{8, 1, 0x81, 0x80, 0x80, 8, 0}, math.MaxInt64), "said to have 16777217")
}

func TestTextsByLengthsAndByWhatTheyShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching("(rack[0-9]-)?[a-z]{0,5}"), 1, 300).Draw(t, "texts")
		schema := parquet.NewSchema("t", parquet.Group{
			"by length": parquet.Optional(parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray)),
			"by prefix": parquet.Optional(parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)),
			"hashes":    parquet.Optional(parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)),
			"lists":     parquet.Repeated(parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)),
		})
		hash := func(word string) int64 { return int64(crc32.ChecksumIEEE([]byte(word))) }
		var out bytes.Buffer
		w := parquet.NewWriter(&out, schema, parquet.PageBufferSize(256))
		for i, word := range words {
			row := parquet.Row{parquet.NullValue().Level(0, 0, 0), parquet.NullValue().Level(0, 0, 1), parquet.NullValue().Level(0, 0, 2), parquet.NullValue().Level(0, 0, 3)}
			if i%5 != 4 {
				row = parquet.Row{
					parquet.ByteArrayValue([]byte(word)).Level(0, 1, 0), parquet.ByteArrayValue([]byte(word)).Level(0, 1, 1),
					parquet.Int64Value(hash(word)).Level(0, 1, 2), parquet.Int32Value(int32(i)).Level(0, 1, 3), parquet.Int32Value(-1).Level(1, 1, 3),
				}
			}
			_, err := w.WriteRows([]parquet.Row{row})
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		f, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
		require.NoError(t, err)
		r := f.Read(0, 1, 2, 3)
		for i, word := range words {
			require.True(t, r.Next(), "%v", r.Err())
			for c := range 4 {
				require.Equal(t, i%5 != 4, r.Column(c).Known())
			}
			if i%5 != 4 {
				require.Equal(t, word, r.Column(0).Text())
				require.Equal(t, word, r.Column(1).Text())
				require.Equal(t, hash(word), r.Column(2).Whole())
				require.Equal(t, fmt.Sprint(i, ",-1"), r.Column(3).Text())
			}
		}
		require.False(t, r.Next())
		require.NoError(t, r.Err())
	})
}

// textPage is a page of texts that share so much with the one before, and of so many letters more.
func textPage(t *testing.T, shares, lengths []int32, letters []byte) *Values {
	b, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, shares)
	require.NoError(t, err)
	more, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, lengths)
	require.NoError(t, err)
	v := &Values{c: &Column{Kind: Text, physical: physBytes}, shared: &shared{}, left: int64(len(shares))}
	v.page = page{data: slices.Concat(b, more, letters)}
	require.NoError(t, v.encoded(encDeltaText))
	return v
}

func TestTextsThatCannotBePutTogetherAreErrors(t *testing.T) {
	v := textPage(t, []int32{0, 3}, []int32{3, 2}, []byte("rack1"))
	require.NoError(t, v.decode())
	require.NoError(t, v.decode())
	require.Equal(t, "rack1"[:3]+"k1", v.text)
	require.ErrorIs(t, v.decode(), errShort, "there is no third one")
	for _, wrong := range []*Values{
		textPage(t, []int32{1}, []int32{3}, []byte("abc")), textPage(t, []int32{-1}, []int32{3}, []byte("abc")),
		textPage(t, []int32{0}, []int32{4}, []byte("abc")), textPage(t, []int32{0}, []int32{-1}, []byte("abc")),
	} {
		require.ErrorIs(t, wrong.decode(), errShort)
	}
	// 64 texts of a MiB are as many letters as a page may have; they take one MiB here.
	shares, lengths := make([]int32, 65), make([]int32, 65)
	for i := range shares {
		shares[i] = 1 << 20
	}
	shares[0], lengths[0] = 0, 1<<20
	v = textPage(t, shares, lengths, make([]byte, 1<<20))
	for range 64 {
		require.NoError(t, v.decode())
	}
	require.ErrorContains(t, v.decode(), "the texts of a page take more than 67108864 bytes")
}

func TestAnEncodingThatATypeCannotHaveIsNamed(t *testing.T) {
	for kind, name := range encodings {
		v := &Values{c: &Column{Kind: Other, physical: physInt96}}
		require.ErrorContains(t, v.encoded(kind), "in the encoding "+name+", which is not read", fmt.Sprint(kind))
	}
}

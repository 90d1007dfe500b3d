package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

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

// packed encodes numbers as DELTA_BINARY_PACKED, in blocks of 128 of four miniblocks.
func packed(numbers []int64) []byte {
	b := binary.AppendUvarint([]byte{0x80, 1, 4}, uint64(len(numbers)))
	if len(numbers) == 0 {
		return append(b, 0)
	}
	b = binary.AppendVarint(b, numbers[0])
	differences := make([]int64, len(numbers)-1)
	for i := range differences {
		differences[i] = numbers[i+1] - numbers[i]
	}
	for block := range slices.Chunk(differences, 128) {
		least := slices.Min(block)
		b = binary.AppendVarint(b, least)
		widths, miniblocks := make([]byte, 4), []byte(nil)
		for i, part := range slices.Collect(slices.Chunk(block, 32)) {
			for _, d := range part {
				widths[i] = max(widths[i], byte(bits.Len64(uint64(d-least))))
			}
			miniblock := make([]byte, 4*int(widths[i]))
			for k, d := range part {
				for bit := range int(widths[i]) {
					at := k*int(widths[i]) + bit
					miniblock[at/8] |= byte(uint64(d-least)>>bit&1) << (at % 8)
				}
			}
			miniblocks = append(miniblocks, miniblock...)
		}
		b = append(append(b, widths...), miniblocks...)
	}
	return b
}

func TestDifferencesOfAnySizeAreAddedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]*rapid.Generator[int64]{rapid.Int64(), rapid.Int64Range(-3, 3), rapid.Int64Range(0, 1<<40), rapid.Just(int64(math.MinInt64))}).Draw(t, "kind")
		want := rapid.SliceOfN(some, 1, 400).Draw(t, "numbers")
		b := packed(want)
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

// Every fifth row of words.parquet has no values. The others have a word in two encodings, its
// checksum, and a list of the row's number and -1.
func TestTextsByLengthsAndByWhatTheyShare(t *testing.T) {
	words := strings.Split(strings.TrimSuffix(string(file(t, "words.txt")), "\n"), "\n")
	require.Len(t, words, 300)
	data := file(t, "words.parquet")
	f, err := Open(bytes.NewReader(data), int64(len(data)))
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
			require.EqualValues(t, crc32.ChecksumIEEE([]byte(word)), r.Column(2).Whole())
			require.Equal(t, fmt.Sprint(i, ",-1"), r.Column(3).Text())
		}
	}
	require.False(t, r.Next())
	require.NoError(t, r.Err())
}

func TestAnyTextsArePutTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching("(rack[0-9]-)?[a-z]{0,5}"), 1, 300).Draw(t, "texts")
		var shares, rests, lengths []int64
		var letters, all []byte
		before := ""
		for _, word := range words {
			shared := 0
			for shared < min(len(before), len(word)) && before[shared] == word[shared] {
				shared++
			}
			shares, rests = append(shares, int64(shared)), append(rests, int64(len(word)-shared))
			letters = append(letters, word[shared:]...)
			lengths, all = append(lengths, int64(len(word))), append(all, word...)
			before = word
		}
		byPrefix, byLength := textPage(t, shares, rests, letters), lengthPage(t, lengths, all)
		for _, word := range words {
			require.NoError(t, byPrefix.decode())
			require.NoError(t, byLength.decode())
			require.Equal(t, word, byPrefix.text)
			require.Equal(t, word, byLength.text)
		}
	})
}

// lengthPage is a page of texts of those lengths.
func lengthPage(t require.TestingT, lengths []int64, letters []byte) *values {
	v := &values{c: &Column{Kind: Text, physical: physBytes}, shared: &shared{}, left: int64(len(lengths))}
	v.page = page{data: slices.Concat(packed(lengths), letters)}
	require.NoError(t, v.encoded(encDeltaLength))
	return v
}

// textPage is a page of texts that share so much with the one before, and of so many letters more.
func textPage(t require.TestingT, shares, lengths []int64, letters []byte) *values {
	v := &values{c: &Column{Kind: Text, physical: physBytes}, shared: &shared{}, left: int64(len(shares))}
	v.page = page{data: slices.Concat(packed(shares), packed(lengths), letters)}
	require.NoError(t, v.encoded(encDeltaText))
	return v
}

func TestTextsThatCannotBePutTogetherAreErrors(t *testing.T) {
	v := textPage(t, []int64{0, 3}, []int64{3, 2}, []byte("rack1"))
	require.NoError(t, v.decode())
	require.NoError(t, v.decode())
	require.Equal(t, "rack1"[:3]+"k1", v.text)
	require.ErrorIs(t, v.decode(), errShort, "there is no third one")
	for _, wrong := range []*values{
		textPage(t, []int64{1}, []int64{3}, []byte("abc")), textPage(t, []int64{-1}, []int64{3}, []byte("abc")),
		textPage(t, []int64{0}, []int64{4}, []byte("abc")), textPage(t, []int64{0}, []int64{-1}, []byte("abc")),
	} {
		require.ErrorIs(t, wrong.decode(), errShort)
	}
	// 64 texts of a MiB are as many letters as a page may have; they take one MiB here.
	shares, lengths := make([]int64, 65), make([]int64, 65)
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
		v := &values{c: &Column{Kind: Other, physical: physInt96}}
		require.ErrorContains(t, v.encoded(kind), "in the encoding "+name+", which is not read", fmt.Sprint(kind))
	}
}

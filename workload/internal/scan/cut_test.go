package scan

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func strs(cells [][]byte) []string {
	all := []string{}
	for _, c := range cells {
		all = append(all, string(c))
	}
	return all
}

func TestCellsAreThoseOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOf(rapid.SampledFrom([]rune("ab,, \t|-é\xAC\x01"))).Draw(t, "line")
		separator := rapid.SampledFrom([]byte(",|\t\x01\xAC")).Draw(t, "separator")
		before := [][]byte{[]byte("before")}
		require.Equal(t, append([]string{"before"}, strings.Split(line, string([]byte{separator}))...), strs(Cut(before, []byte(line), separator)))
		blank := func(r rune) bool { return r == ' ' || r == '\t' }
		require.Equal(t, append([]string{"before"}, strings.FieldsFunc(line, blank)...), strs(CutBlanks(before, []byte(line))))
	})
}

func TestBytesAreEqualOrNot(t *testing.T) {
	for c := range 256 {
		for of := range 256 {
			word := ones*uint64(c) ^ 0xFF<<24
			want := uint64(0)
			if c == of {
				want = 0x8080808000808080
			} else if c^0xFF == of {
				want = 0x80 << 24
			}
			require.Equal(t, want, equal(word, ones*uint64(of)))
		}
	}
}

func TestQuotedRowsAreThoseOfCSV(t *testing.T) {
	var buf []byte
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune(`ab,;"é `))), 1, 5).Draw(t, "cells")
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = rapid.SampledFrom([]rune(",;")).Draw(t, "separator")
		require.NoError(t, w.Write(want))
		w.Flush()
		got, sound := CutQuoted(nil, []byte(strings.TrimSuffix(b.String(), "\n")), byte(w.Comma), &buf)
		require.True(t, sound)
		require.Equal(t, want, strs(got), b.String())
	})
}

func TestWhatIsWrongWithQuotesIsPassedOver(t *testing.T) {
	for line, want := range map[string][]string{
		`"a"b,c`:    {"a", "c"},
		`"a" ,c`:    {"a", "c"},
		`"a,c`:      {"a,c"},
		`x,"a""`:    {"x", `a"`},
		`"`:         {""},
		`"a"b"c",d`: {"a", "d"},
	} {
		got, sound := CutQuoted(nil, []byte(line), ',', new([]byte))
		require.False(t, sound, line)
		require.Equal(t, want, strs(got), line)
	}
	got, sound := CutQuoted(nil, []byte(`a"b,"c",`), ',', new([]byte))
	require.True(t, sound, "a quote within a cell is one")
	require.Equal(t, []string{`a"b`, "c", ""}, strs(got))
}

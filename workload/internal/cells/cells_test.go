package cells

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

func table(text string, columns ...string) *Table {
	return New(strings.NewReader(text), &workload.Account{}, columns...)
}

func TestRowsAreThoseOfCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune(`ab,"é `))), 1, 5).Draw(t, "cells")
		var b strings.Builder
		w := csv.NewWriter(&b)
		require.NoError(t, w.Write(want))
		w.Flush()
		got := split([]byte(strings.TrimSuffix(b.String(), "\n")), nil)
		var texts []string
		for _, c := range got {
			texts = append(texts, string(c))
		}
		require.Equal(t, want, texts, b.String())
	})
}

func TestNumbersAreThoseOfStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`-?[0-9]{0,20}(\.[0-9]{0,20})?(e-?[0-9]{1,2})?`),
			rapid.Map(rapid.Float64(), func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }),
			rapid.StringMatching(`[0-9.+-]{1,4}`),
		).Draw(t, "text")
		if text == "" {
			return
		}
		want, err := strconv.ParseFloat(text, 64)
		got, ok := number([]byte(text))
		require.Equal(t, err == nil && !math.IsInf(want, 0), ok, text)
		if ok {
			require.Equal(t, want, got, text)
		}
		n, err := strconv.ParseInt(text, 10, 64)
		whole, ok := integer([]byte(text))
		require.Equal(t, err == nil, ok, text)
		if ok {
			require.Equal(t, n, whole)
		}
	})
}

func TestEveryLineIsCounted(t *testing.T) {
	tab := table("a,b\n1,2\n\n3\n4,x\n5,,7\n6,\n-1,2.5\n"+strings.Repeat("9", 1<<19)+"\n9e999,1\n", "a", "b")
	var rows []string
	for tab.Next() {
		a, b := tab.Seconds(0), tab.Whole(1)
		if !tab.Wrong() {
			rows = append(rows, fmt.Sprint(tab.Line(), a == workload.UnknownTime, float64(a)/float64(des.Second), b))
		}
	}
	require.NoError(t, tab.Err())
	require.Equal(t, []string{"2 false 1 2", "6 false 5 -1", "7 false 6 -1"}, rows)
	report := tab.Account.Report()
	require.EqualValues(t, 8, report.Lines)
	require.EqualValues(t, 5, report.Total(workload.Damaged))
	require.EqualValues(t, 1, report.Count(workload.ExtraFields))
	require.EqualValues(t, 1, report.Count(workload.TooFewFields))
	require.EqualValues(t, 1, report.Count(workload.LineTooLong))
	require.EqualValues(t, 2, report.Count(workload.NotANumber))
	require.EqualValues(t, 1, report.Count(workload.NotWhole))
}

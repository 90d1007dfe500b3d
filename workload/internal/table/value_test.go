package table

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

func TestDatesAreThoseOfTheStandardLibrary(t *testing.T) {
	zones := []*time.Location{time.UTC, time.FixedZone("", 5*3600+1800), time.FixedZone("", -8*3600)}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		at := time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "at")).In(zone)
		layout := rapid.SampledFrom([]string{
			"2006-01-02T15:04:05.999999Z07:00", "2006-01-02 15:04:05.000000-0700", "2006-01-02T15:04:05.999999", "2006/01/02 15:04:05.999999",
			"2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02", "2006-01-02T15:04:05 -07", "2006-01-02 15:04:05 UTC",
		}).Draw(t, "layout")
		text := at.Format(layout)
		if zone == zones[1] && (layout == "2006-01-02T15:04:05 -07") {
			return // half an hour is lost
		}
		want, err := time.ParseInLocation(layout, text, zone)
		require.NoError(t, err)
		if layout == "2006-01-02 15:04:05 UTC" {
			want, _ = time.ParseInLocation(layout, text, time.UTC)
		}
		got, isDate, ok := instant([]byte(text), 0, zone)
		require.True(t, ok, text)
		require.True(t, isDate)
		require.Equal(t, des.Time(want.UnixMicro()), got, text)
	})
}

func TestDurationsAreNumbersOrClocks(t *testing.T) {
	const s = des.Second
	for text, want := range map[string]des.Time{
		"90": 90 * s, "1.5": s * 3 / 2, "1:30": 90 * s, "01:00:00": 3600 * s, "2-03:04:05.25": 2*86400*s + 11045*s + s/4, "1 day 00:00:01": 86401 * s,
		"3 days 10:00:00": 3*86400*s + 36000*s, "-0:10": -10 * s, "100:00:00": 360000 * s, "1e3": 1000 * s, "1-00:30": 86400*s + 30*s,
	} {
		got, ok := duration([]byte(text), 0)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for text, unit := range map[string]des.Time{"90000": s / 1000, "1.5": 60 * s, "0.025": 3600 * s, "90e6": 1} {
		got, ok := duration([]byte(text), unit)
		require.True(t, ok, text)
		require.Equal(t, 90*s, got, text)
	}
	for _, text := range []string{"", ":", "1:", ":1", "a:b", "1:2:3:4", "x-1:00:00", "1:00:-5", "1:00:x", "99999999-00:00:00", "NaN", "inf"} {
		_, ok := duration([]byte(text), 0)
		require.False(t, ok, text)
	}
	for _, text := range []string{"NaN", "inf", "1e300", "9999999999999999", "x"} {
		_, ok := duration([]byte(text), 60*s)
		require.False(t, ok, text)
	}
}

func TestANumberWithASmallExponentIsNoDate(t *testing.T) {
	at, isDate, ok := instant([]byte("1.5e-003"), 0, nil)
	require.True(t, ok)
	require.False(t, isDate)
	require.Equal(t, des.Second*3/2000, at)
}

func TestWhatIsNoDateIsRefused(t *testing.T) {
	for _, text := range []string{
		"2024-13-01", "2023-02-29", "2024-00-10", "2024-01-32", "2024-01/02", "2024-01-02T", "2024-01-02T25:00", "2024-01-02 10:60", "2024-01-02T10:00:61", "2024-01-02x10:00",
		"2024-01-02T10:00:00+1", "2024-01-02T10:00:00+1:00", "2024-01-02T10:00:00 CET", "2024-01-02T10:00:00.", "20x4-01-02", "2024-1-2 10:00",
	} {
		_, _, ok := instant([]byte(text), 0, nil)
		require.False(t, ok, text)
	}
}

func TestWordsForTheEndsOfJobs(t *testing.T) {
	for text, want := range map[string]int64{
		"COMPLETED": 1, "Finished": 1, "TIMEOUT": 0, "CANCELLED by 5": 5, "NODE_FAIL": 0, "OUT_OF_MEMORY": 0, "RUNNING": -1, "4": 4, "succeeded": 1,
	} {
		require.Equal(t, want, status([]byte(text)), text)
	}
}

// Small numbers take a way of their own, which is the plain text of none: without it
// everything must come out the same.
func TestSmallNumbersAreReadAsAnyOther(t *testing.T) {
	in := input(t)
	var own, anybodys []Field
	for i, name := range workload.FieldNames {
		own = append(own, Field{Name: name, SWF: i + 1, Is: Plain})
	}
	for f := 1; f <= Size; f++ {
		anybodys = append(anybodys, Field{Name: fmt.Sprint("cell", f), Is: Loose, SWF: f}, Field{Name: fmt.Sprint("unit", f), Is: Loose, SWF: f, Counts: 60 * des.Second}, Field{Name: fmt.Sprint("more", f), Is: Loose, SWF: f, As: "x"})
	}
	rapid.Check(t, func(t *rapid.T) {
		h := &workload.Header{Columns: []workload.Column{{Name: "x", Text: true}}}
		h.Set("UnixStartTime", "1000000000")
		h.Names(workload.FieldUser).Set(3, "7")
		form := &Form{Separator: ',', Plain: rapid.Bool().Draw(t, "plain"), Quotes: rapid.Bool().Draw(t, "quotes"), Words: []string{"NA"}}
		l := &Columns{Fields: own, Form: form}
		if !form.Plain {
			l.Fields = rapid.SliceOfN(rapid.SampledFrom(anybodys), 1, 8).Draw(t, "cells")
		}
		var text strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			line := rapid.SliceOfN(rapid.OneOf(rapid.StringMatching(`[0-9]{0,11}`), rapid.SampledFrom([]string{"", "-1", "1.5", "1e3", "x", "NA", " 4", `"3"`, "1:00"})), 1, 20).Draw(t, "cells")
			fmt.Fprintln(&text, strings.Join(line, ","))
		}
		told := func(without bool) string {
			l.Over = (&log{lines: scan.NewLines(strings.NewReader(text.String())), name: "x"}).Rows
			r, err := l.Rows(in, h)
			require.NoError(t, err)
			h.Columns = l.RecordColumns()
			if without {
				clear(r.loose.small)
			}
			var b strings.Builder
			for r.Next() {
				fmt.Fprintf(&b, "%d: %+v\n", r.Line(), *r.Record())
			}
			return fmt.Sprintln(b.String(), r.Err(), r.Report(), r.Report().Findings())
		}
		require.Equal(t, told(true), told(false))
	})
}

func TestLinesAreJoinedWhereSplitSeesAnOpenQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune(`",a,`)), 0, 12, -1).Draw(t, "line")
		open := quoting(cellStart).after([]byte(text)) == inQuotes
		cells := func(text string) int {
			return len((&log{line: []byte(text), quoted: true}).split(nil, ',', new([]byte)))
		}
		before, after := cells(text), cells(text+",x")
		if open {
			require.Equal(t, before, after, text) // the comma is within the quotes
		} else {
			require.Equal(t, before+1, after, text)
		}
	})
}

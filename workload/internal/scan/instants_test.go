package scan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestInstantsAreThoseOfTheStandardLibrary(t *testing.T) {
	tokyo := time.FixedZone("", 9*3600)
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMicro(rapid.Int64Range(-1e15, 4e15).Draw(t, "us"))
		for _, c := range []struct {
			layout string
			in     *time.Location
			zone   *time.Location
			second bool
		}{
			{"2006-01-02 15:04:05", time.UTC, nil, true},
			{"2006-01-02T15:04:05", tokyo, tokyo, true},
			{"2006-01-02T15:04:05.000000Z07:00", tokyo, nil, false},
			{"2006-01-02 15:04:05.000000Z07:00", time.UTC, tokyo, false},
			{"2006-01-02 15:04:05.000000-0700", tokyo, nil, false},
			{"2006-01-02 15:04:05-07", tokyo, time.UTC, true},
			{"2006-01-02 15:04:05.000", tokyo, tokyo, true},
		} {
			want := at
			if c.second {
				want = at.Truncate(time.Second)
			}
			at, ok := Instant([]byte(want.In(c.in).Format(c.layout)), c.zone)
			require.True(t, ok, c.layout)
			require.Equal(t, des.Time(want.UnixMicro()), at, c.layout)
		}
		wall := at.In(tokyo)
		shown := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), time.UTC)
		require.Equal(t, des.Time(at.UnixMicro()), At(des.Time(shown.UnixMicro()), tokyo))
		require.Equal(t, des.Time(at.UnixMicro()), At(des.Time(at.UnixMicro()), nil))
	})
}

func TestWhatIsNoInstantIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "2021-04-1", "2021-04-01 12", "2021-04-01 12:30:00.", "2021/04-01", "2021-13-01 00:00:00", "2021-02-29 00:00:00", "2021-00-10 00:00:00", "2021-01-00 00:00:00", "2021-01-01 24:00:00",
		"2021-01-01 00:60:00", "2021-01-01 00:00:61", "2021-01-01x00:00:00", "2021-01-01 00:00:00 PST", "2021-01-01 00:00:00+9", "2021-01-01 00:00:00+24:00",
		"2021-01-01 00:00:00+0x:00", "None               ", "20a1-01-01 00:00:00",
	} {
		_, ok := Instant([]byte(text), nil)
		require.False(t, ok, text)
	}
	_, ok := Instant([]byte("2020-02-29 23:59:60"), nil)
	require.True(t, ok)
}

func TestDaysAreThoseOfTheStandardLibrary(t *testing.T) {
	for day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() <= 800; day = day.AddDate(0, 0, 1) {
		year, month, of := day.Date()
		if got := civil(year, int(month), of); got*86400 != day.Unix() {
			t.Fatalf("%v is day %d", day, got)
		}
		if next := day.AddDate(0, 0, 1); next.Month() != month && daysIn(year, int(month)) != of {
			t.Fatalf("%v ends on day %d", day, daysIn(year, int(month)))
		}
	}
}

// In a zone without an offset that is not UTC itself dates are read the long way.
func TestTheUsualFormIsReadAsAnyOther(t *testing.T) {
	elsewhere := time.FixedZone("", 0)
	check := func(t require.TestingT, text string) {
		at, ok := Instant([]byte(text), nil)
		want, wanted := Instant([]byte(text), elsewhere)
		require.Equal(t, wanted, ok, text)
		if ok {
			require.Equal(t, want, at, text)
		}
	}
	const usual = "2024-02-29T23:59:60"
	for i := range usual {
		for _, c := range []byte("0123459-/:T .Zx\xb2\x00") {
			check(t, usual[:i]+string([]byte{c})+usual[i+1:])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[0-9]{4}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9]`).Draw(t, "text"))
		check(t, rapid.StringMatching(`[0-9]{4}/0[0-9]/[0-3][0-9] 0[0-9]:[0-5][0-9]:[0-6][0-9]`).Draw(t, "text"))
	})
}

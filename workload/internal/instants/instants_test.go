package instants

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
			at, ok := Parse([]byte(want.In(c.in).Format(c.layout)), c.zone)
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
		_, ok := Parse([]byte(text), nil)
		require.False(t, ok, text)
	}
	_, ok := Parse([]byte("2020-02-29 23:59:60"), nil)
	require.True(t, ok)
}

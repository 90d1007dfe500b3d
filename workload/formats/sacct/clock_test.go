package sacct

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every instant of two days around each change of the clock, by trying all instants that
// the clock could show so.
func TestInstantsAreThoseAtWhichTheClockShowsTheTime(t *testing.T) {
	for _, name := range []string{"Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Apia", "UTC"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		show := func(at int64) int64 {
			x := time.Unix(at, 0).In(zone)
			return time.Date(x.Year(), x.Month(), x.Day(), x.Hour(), x.Minute(), x.Second(), 0, time.UTC).Unix()
		}
		c := newClock(zone)
		at := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 8 {
			const minutes, step = 2 * 24 * 60, 600
			from := at.Unix() - minutes*60/2
			of := map[int64][]int64{} // instants by what is shown
			for i := from - 86400*2; i < from+minutes*60+86400*2; i += step {
				of[show(i)] = append(of[show(i)], i)
			}
			var asked []int64
			for shown := show(from); shown < show(from+minutes*60); shown += step {
				asked = append(asked, shown)
			}
			for i := len(asked) - 1; i >= 0; i-- { // from behind, too: what is remembered must not matter
				asked = append(asked, asked[i])
			}
			for _, shown := range asked {
				switch instants := of[shown]; len(instants) {
				case 0:
					got := c.instant(shown, math.MinInt64)
					_, before := time.Unix(got-86400, 0).In(zone).Zone()
					require.Equal(t, shown-int64(before), got, "%s: %v is passed over", name, time.Unix(shown, 0).UTC())
				default:
					for _, notBefore := range append([]int64{math.MinInt64, math.MaxInt64}, instants...) {
						want := instants[0]
						if len(instants) == 2 && want < notBefore {
							want = instants[1]
						}
						require.Equal(t, want, c.instant(shown, notBefore), "%s: %v", name, time.Unix(shown, 0).UTC())
					}
				}
			}
			_, next := at.In(zone).ZoneBounds()
			if next.IsZero() {
				break
			}
			at = next
		}
	}
}

func TestCivilTimesAreThoseOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Int64Range(0, year10000-1).Draw(t, "at")
		x := time.Unix(at, 0).UTC()
		text := []byte(civil(at))
		require.Equal(t, x.Format("2006-01-02T15:04:05"), string(text))
		c := newClock(nil)
		back, _, ok := c.read(text, math.MinInt64)
		require.True(t, ok)
		require.Equal(t, at, back)
	})
}

func TestTheClockShowsWhatItReads(t *testing.T) {
	zone := london(t)
	rapid.Check(t, func(t *rapid.T) {
		c := newClock(zone)
		at := rapid.Int64Range(1_700_000_000, 1_740_000_000).Draw(t, "at")
		shown, once := c.show(at)
		if once {
			require.Equal(t, at, c.instant(shown, math.MinInt64))
		} else {
			require.Equal(t, at-3600, c.instant(shown, math.MinInt64), "the second of two")
		}
	})
}

// civil is what a clock in UTC shows at an instant.
func civil(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02T15:04:05") }

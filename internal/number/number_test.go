package number_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"pgregory.net/rapid"
)

func TestATimeIsReadInSecondsOrWithItsUnit(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "90": 90, "0.5": 0.5, "90s": 90, "15m": 900, "1.5h": 5400, "30d": 30 * 86400, "1e12": 1e12, "1e3m": 60000} {
		got, err := number.Seconds(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "s", "-1", "-1m", "nan", "inf", "infd", "1w", "1 d", "1M", "1_0", "0x10", "1e13", "2e7d", "5mm"} {
		_, err := number.Seconds(text)
		require.EqualError(t, err, "want a time of 0 or more, in seconds or as in 15m, 4h, 30d, not "+strconv.Quote(text))
	}
}

// One grammar: each of these texts is the same number to all readers, or none to any.
func TestOneGrammarForAllKindsOfNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "90": 90, "1e3": 1000, "1E+3": 1000, "25e-1": 2.5, "2.50": 2.5, ".5": 0.5, "7.": 7, "+3": 3, "-0": 0, "-1.5": -1.5, "-2": -2,
		"00000000000000000000001": 1, "123456789012345": 123456789012345, "12345678": 12345678,
	} {
		x, fault := number.Float(text)
		require.Equal(t, number.Sound, fault, text)
		require.Equal(t, want, x+0, text)
		n, fault := number.Whole(text, math.MaxInt64)
		require.Equal(t, want != math.Trunc(want), fault == number.NotWhole, text)
		require.Equal(t, int64(want), n, text)
		if math.Abs(want) < 1e12 {
			at, fault := number.Time([]byte(text), des.Forever)
			require.Equal(t, number.Sound, fault, text)
			require.Equal(t, des.Seconds(want), at, text)
			at, fault = number.InUnits(text, des.Minute, des.Forever)
			require.Equal(t, number.Sound, fault, text)
			require.Equal(t, 60*des.Seconds(want), at, text)
		}
	}
	for text, want := range map[string]number.Fault{
		"": number.NotNumber, ".": number.NotNumber, "-": number.NotNumber, "+.": number.NotNumber, "--1": number.NotNumber, "1.2.3": number.NotNumber,
		"1,5": number.NotNumber, "1 ": number.NotNumber, " 1": number.NotNumber, "1e": number.NotNumber, "1:30": number.NotNumber, "1_0": number.NotNumber,
		"0x10": number.NotNumber, "0x1p4": number.NotNumber, "soon": number.NotNumber, "forever": number.NotNumber,
		"inf": number.NotFinite, "-Infinity": number.NotFinite, "NaN": number.NotFinite, "1e400": number.OutOfRange,
	} {
		_, fault := number.Float(text)
		require.Equal(t, want, fault, text)
		_, fault = number.Whole(text, math.MaxInt64)
		require.Equal(t, want, fault, text)
		_, fault = number.Time(text, des.Forever)
		require.Equal(t, want, fault, text)
		_, fault = number.InUnits(text, des.Minute, des.Forever)
		require.Equal(t, want, fault, text)
	}
}

func TestTheBoundIsTheLargestValueOfEitherSign(t *testing.T) {
	whole := func(text string, most int64) number.Fault { _, fault := number.Whole(text, most); return fault }
	for _, sign := range []string{"", "-", "+"} {
		require.Equal(t, number.Sound, whole(sign+"2147483647", math.MaxInt32))
		require.Equal(t, number.OutOfRange, whole(sign+"2147483648", math.MaxInt32))
		require.Equal(t, number.OutOfRange, whole(sign+"3e9", math.MaxInt32))
		require.Equal(t, number.Sound, whole(sign+"7", 7))
		require.Equal(t, number.OutOfRange, whole(sign+"8", 7))
		require.Equal(t, number.Sound, whole(sign+"9223372036854775807", math.MaxInt64))
		require.Equal(t, number.OutOfRange, whole(sign+"9223372036854775808", math.MaxInt64))
	}
	time := func(text string, most des.Time) number.Fault { _, fault := number.Time(text, most); return fault }
	require.Equal(t, number.Sound, time("1000000000000", 1e12*des.Second))
	require.Equal(t, number.OutOfRange, time("1000000000000.0000005", 1e12*des.Second))
	require.Equal(t, number.Sound, time("1000000000000.0000004", 1e12*des.Second))
	require.Equal(t, number.OutOfRange, time("2e12", 1e12*des.Second))
	require.Equal(t, number.Sound, time("0.5", des.Second/2))
	require.Equal(t, number.OutOfRange, time("1", des.Second/2))
	for _, text := range []string{"9223372036854.775808", "9223372036854.7758075", "9223372036855", "99999999999999999999"} {
		require.Equal(t, number.OutOfRange, time(text, des.Forever), text)
	}
	minutes := func(text string) number.Fault { _, fault := number.InUnits(text, des.Minute, des.Hour); return fault }
	for text, want := range map[string]number.Fault{"60": number.Sound, "-60": number.Sound, "60.0": number.Sound, "61": number.OutOfRange, "-61": number.OutOfRange, "60.1": number.OutOfRange, "6.1e1": number.OutOfRange} {
		require.Equal(t, want, minutes(text), text)
	}
}

func TestTimesAreReadToTheNearestTick(t *testing.T) {
	for text, want := range map[string]des.Time{
		"0.0000004": 0, "0.0000005": 1, "-0.0000005": -1, "1.9999999": 2 * des.Second, "12345678.123456": 12345678_123456, "1.00000049": des.Second,
	} {
		at, fault := number.Time(text, des.Forever)
		require.Equal(t, number.Sound, fault, text)
		require.Equal(t, want, at, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := des.Time(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "time"))
		at, fault := number.Time(want.Append(nil), des.Forever)
		require.Equal(t, number.Sound, fault)
		require.Equal(t, want, at)
	})
}

func TestATimeThatIsWrittenIsReadBackExactly(t *testing.T) {
	for _, x := range []des.Time{0, des.Tick, des.Second, 9_000_000_000*des.Second + des.Tick, 9_000_000_000_000*des.Second + des.Tick, des.Forever - des.Tick, -des.Forever} {
		got, fault := number.Time(x.Append(nil), des.Forever)
		require.Equal(t, number.Sound, fault, x)
		require.Equal(t, x, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := des.Time(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "time"))
		got, fault := number.Time(string(x.Append(nil)), des.Forever)
		require.Equal(t, number.Sound, fault)
		require.Equal(t, x, got)
	})
}

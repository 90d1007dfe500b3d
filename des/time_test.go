package des_test

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestTimeIsWrittenInTimeUnits(t *testing.T) {
	for _, c := range []struct {
		t    des.Time
		want string
	}{
		{0, "0"},
		{s, "1"},
		{-s, "-1"},
		{des.Day, "86400"},
		{des.Tick, "0.000001"},
		{-des.Tick, "-0.000001"},
		{s + s/2, "1.5"},
		{10*s + 20*des.Tick, "10.00002"},
		{des.Forever - des.Tick, "9223372036854.775806"},
		{math.MinInt64, "-9223372036854.775808"},
		{des.Forever, "forever"},
	} {
		require.Equal(t, c.want, c.t.String())
	}
}

func TestWrittenTimeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := des.Time(rapid.Int64Range(math.MinInt64, math.MaxInt64-1).Draw(t, "time"))
		whole, frac, _ := strings.Cut(x.String(), ".")
		require.False(t, strings.HasSuffix(frac, "0"), "no needless decimals")
		digits := whole + frac + strings.Repeat("0", 6-len(frac))
		ticks, err := strconv.ParseInt(digits, 10, 64)
		require.NoError(t, err)
		require.EqualValues(t, x, ticks)
	})
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	require.Equal(t, "t=2.5", string((2*s + s/2).Append([]byte("t="))))
}

func TestAppendAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 32)
	require.Zero(t, testing.AllocsPerRun(100, func() { buf = (s + des.Tick).Append(buf[:0]) }))
}

func TestSecondsRoundsToTheNearestTick(t *testing.T) {
	for _, c := range []struct {
		units float64
		want  des.Time
	}{
		{0, 0}, {1, s}, {-1, -s}, {0.1, s / 10}, {1.0 / 3, 333_333}, {2.0 / 3, 666_667},
		{4e-7, 0}, {6e-7, 1}, {-6e-7, -1},
		{1e13, des.Forever}, {-1e13, -des.Forever},
		{math.Inf(1), des.Forever}, {math.Inf(-1), -des.Forever}, {math.NaN(), 0},
	} {
		require.Equal(t, c.want, des.Seconds(c.units), "%v", c.units)
	}
}

func TestSecondsOfATraceComeBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ticks := des.Time(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "ticks"))
		require.Equal(t, ticks, des.Seconds(ticks.Seconds()))
	})
}

func TestAddStopsAtForever(t *testing.T) {
	require.Equal(t, 3*s, (1 * s).Add(2*s))
	require.Equal(t, des.Forever, des.Forever.Add(0))
	require.Equal(t, des.Forever, des.Forever.Add(des.Tick))
	require.Equal(t, des.Forever, (1 * s).Add(des.Forever))
	require.Equal(t, -s, (-2 * s).Add(s))
}

func TestAShareOfATimeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := des.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "time"))
		whole := rapid.Int64Range(1, math.MaxInt64).Draw(t, "whole")
		part := rapid.Int64Range(0, whole-1).Draw(t, "part")
		product := new(big.Int).Mul(big.NewInt(int64(of)), big.NewInt(part))
		quotient, rest := product.QuoRem(product, big.NewInt(whole), new(big.Int))
		q, r := of.MulDiv(des.Time(part), des.Time(whole))
		require.Equal(t, []int64{quotient.Int64(), rest.Int64()}, []int64{int64(q), int64(r)})
	})
}

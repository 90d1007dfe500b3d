package rows

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func TestAppendTimeEqualsTheTimesOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := des.Time(rapid.OneOf(rapid.Int64Min(0), rapid.Int64Range(0, 2_000_000_000_000)).Draw(t, "n"))
		require.Equal(t, string(n.Append([]byte("x"))), string(AppendTime([]byte("x"), n)))
		whole := n / des.Second * des.Second
		require.Equal(t, string(whole.Append(nil)), string(AppendTime(nil, whole)))
	})
}

func TestATimeThatDoesNotExistIsAnEmptyField(t *testing.T) {
	require.Empty(t, AppendTime(nil, None))
}

package printed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics/internal/printed"
)

func TestGroupedNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		require.Equal(t, want, printed.Int(n))
	}
}

package plain

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersHaveFourFiguresAndAreWholeFromAThousandOn(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0123456: "0.01235", 1.5: "1.5", 12.3456: "12.35", 999.94: "999.9", 1000: "1000", 123456.7: "123457", 1e9: "1000000000",
		-12.3456: "-12.35", -1000: "-1000", -123456.7: "-123457",
	} {
		require.Equal(t, want, FourFigures(v))
	}
}

func TestAReasonNamesNeitherCallNorFile(t *testing.T) {
	_, err := os.Open("none")
	require.EqualError(t, Reason(fmt.Errorf("reading: %w", err)), "no such file or directory")
	other := errors.New("of another kind")
	require.Equal(t, other, Reason(other))
	require.NoError(t, Reason(nil))
}

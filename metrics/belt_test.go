package metrics

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsAreWorkedOffInOrder(t *testing.T) {
	for _, run := range []func(do func()){nil, func(do func()) { go do() }} {
		var got []int
		b := newBelt(3, run, func(rows []int) { got = append(got, rows...) })
		for i := range 2000 {
			b.put(i)
		}
		b.close()
		require.Len(t, got, 2000)
		for i, n := range got {
			require.Equal(t, i, n)
		}
	}
}

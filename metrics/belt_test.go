package metrics

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBatchesAreWorkedOffInOrder(t *testing.T) {
	for _, run := range []func(do func()){nil, func(do func()) { go do() }} {
		var got []int
		b := newBelt(run, func(batch *[]int) {
			got = append(got, *batch...)
			*batch = (*batch)[:0]
		})
		for i := range 1000 {
			batch := b.empty()
			require.Empty(t, *batch)
			*batch = append(*batch, 2*i, 2*i+1)
			b.send(batch)
		}
		b.close()
		require.Len(t, got, 2000)
		for i, n := range got {
			require.Equal(t, i, n)
		}
	}
}

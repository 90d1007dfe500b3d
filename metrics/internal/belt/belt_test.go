package belt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBatchesAreWorkedOffInOrder(t *testing.T) {
	var got []int
	b := New(func(do func()) { go do() }, func(batch *[]int) {
		got = append(got, *batch...)
		*batch = (*batch)[:0]
	})
	for i := range 1000 {
		batch := b.Empty()
		require.Empty(t, *batch)
		*batch = append(*batch, 2*i, 2*i+1)
		b.Send(batch)
	}
	b.Close()
	require.Len(t, got, 2000)
	for i, n := range got {
		require.Equal(t, i, n)
	}
}

package procset

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestProcessorsAreGivenLowestFreeFirst(t *testing.T) {
	p := New(10)
	a, err := p.Allocate(4, nil)
	require.NoError(t, err)
	b, err := p.Allocate(2, nil)
	require.NoError(t, err)
	require.NoError(t, p.Free(a[:1]))
	c, err := p.Allocate(6, nil)
	require.NoError(t, err)
	require.Equal(t, "0-3", string(Append(nil, a)))
	require.Equal(t, "4-5", string(Append(nil, b)))
	require.Equal(t, "0-3 6-7", string(Append(nil, c)))
	require.Equal(t, 2, p.Available())
}

func TestProcessorsRefuseMoreThanAreFree(t *testing.T) {
	p := New(3)
	_, err := p.Allocate(4, nil)
	require.ErrorContains(t, err, "4 processors wanted, 3 of 3 are free")
	require.Equal(t, 3, p.Available())
}

func TestProcessorsRefuseToBeFreedTwice(t *testing.T) {
	p := New(200)
	r, err := p.Allocate(150, nil)
	require.NoError(t, err)
	require.NoError(t, p.Free(r))
	require.ErrorContains(t, p.Free(r), "free already")
	require.ErrorContains(t, p.Free([]Range{{199, 200}}), "no processors")
	require.Equal(t, 200, p.Available())
}

// The bitmap does what a plain list of booleans does.
func TestProcessorsEqualAListOfBooleans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9000).Draw(t, "n")
		p := New(n)
		taken := make([]bool, n)
		free := n
		var held [][]Range
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) {
				k := rapid.IntRange(0, free).Draw(t, "k")
				got, err := p.Allocate(k, nil)
				require.NoError(t, err)
				var want []Range
				for i, left := 0, k; left > 0; i++ {
					if taken[i] {
						continue
					}
					taken[i] = true
					left--
					if l := len(want); l > 0 && int(want[l-1].Last) == i-1 {
						want[l-1].Last++
					} else {
						want = append(want, Range{int32(i), int32(i)})
					}
				}
				require.Equal(t, want, got)
				held = append(held, got)
				free -= k
			},
			"free": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("nothing held")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "i")
				for _, r := range held[i] {
					for q := r.First; q <= r.Last; q++ {
						taken[q] = false
						free++
					}
				}
				require.NoError(t, p.Free(held[i]))
				held = append(held[:i], held[i+1:]...)
			},
			"": func(t *rapid.T) { require.Equal(t, free, p.Available()) },
		})
	})
}

func BenchmarkProcessors100000(b *testing.B) {
	p := New(100_000)
	var held [64][]Range
	for i := 0; b.Loop(); i++ {
		h := &held[i%64]
		_ = p.Free(*h)
		*h, _ = p.Allocate(100+i%1200, (*h)[:0])
	}
}

package parallel_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/internal/parallel"
)

func TestEachDoesEverythingOnce(t *testing.T) {
	for _, most := range []int{0, 1, 3, 100} {
		var lock sync.Mutex
		var done []int
		require.NoError(t, parallel.Each(context.Background(), most, 10, func(_ context.Context, _, i int) error {
			lock.Lock()
			defer lock.Unlock()
			done = append(done, i)
			return nil
		}))
		slices.Sort(done)
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, done)
	}
}

func TestEachKeepsToItsWorkers(t *testing.T) {
	var now, most atomic.Int32
	var busy [3]atomic.Bool
	require.NoError(t, parallel.Each(context.Background(), 3, 50, func(_ context.Context, worker, _ int) error {
		assert.True(t, busy[worker].CompareAndSwap(false, true), "a worker does one call at a time")
		defer busy[worker].Store(false)
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		now.Add(-1)
		return nil
	}))
	require.LessOrEqual(t, most.Load(), int32(3))
}

func TestTheFirstErrorEndsEach(t *testing.T) {
	failure := errors.New("the second fails")
	begun := 0
	err := parallel.Each(context.Background(), 1, 1000, func(ctx context.Context, _, i int) error {
		begun++
		if i == 1 {
			return failure
		}
		return ctx.Err()
	})
	require.ErrorIs(t, err, failure)
	require.LessOrEqual(t, begun, 4, "what has not begun is left out")
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	begun := 0
	err := parallel.Each(ctx, 1, 1000, func(context.Context, int, int) error {
		begun++
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, begun, 1000)
}

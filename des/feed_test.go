package des

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbers is a feed of instants, which writes down what comes when.
func numbers(s *Simulator, items ...Time) (*Feed[Time], *[]Time) {
	var came []Time
	f := &Feed[Time]{
		At: func(t Time) Time { return t },
		Do: func(t Time) { came = append(came, s.Now()) },
	}
	f.From(slices.Values(items))
	return f, &came
}

func TestAFeedBringsEveryItemAtItsInstant(t *testing.T) {
	s := New(Config{})
	f, came := numbers(s, 1, 5, 5, 9)
	f.Begin(s)
	require.Equal(t, 1, s.Pending(), "one item ahead of the clock")
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, []Time{1, 5, 5, 9}, *came)
}

func TestItemsOutOfOrderEndTheRun(t *testing.T) {
	s := New(Config{})
	f, came := numbers(s, 1, 5, 4)
	f.Begin(s)
	require.ErrorContains(t, s.Run(context.Background()), "in order of time")
	require.Equal(t, []Time{1, 5}, *came, "the item at hand is taken in")
}

func TestAnItemThatMakesNoSenseEndsTheRun(t *testing.T) {
	s := New(Config{})
	f, _ := numbers(s, 1, 5)
	odd := errors.New("5 is too much")
	f.Check = func(t Time) error {
		if t == 5 {
			return odd
		}
		return nil
	}
	f.Begin(s)
	require.ErrorIs(t, s.Run(context.Background()), odd)
}

func TestAClosedFeedBringsNothingMore(t *testing.T) {
	s := New(Config{})
	f, came := numbers(s, 1, 5, 9)
	f.Begin(s)
	require.NoError(t, s.RunUntil(context.Background(), 2))
	f.Close()
	f.Close()
	f.Pull()
	require.Zero(t, s.Pending())
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, []Time{1}, *came)
}

func TestAFeedThatIsOverMayBePulledAgain(t *testing.T) {
	s := New(Config{})
	var items, came []Time
	f := &Feed[Time]{
		Next: func() (Time, bool) {
			if len(items) == 0 {
				return 0, false
			}
			first := items[0]
			items = items[1:]
			return first, true
		},
		At: func(t Time) Time { return t },
		Do: func(t Time) { came = append(came, t) },
	}
	f.Begin(s)
	s.At(3, 0, Func(func(*Simulator, Event) {
		items = []Time{4, 6}
		f.Pull()
		f.Pull() // one is on its way
	}), 0)
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, []Time{4, 6}, came)
}

func TestHandlersKnowTheContextOfTheRun(t *testing.T) {
	s := New(Config{})
	require.Equal(t, context.Background(), s.Context())
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "this run")
	s.At(1, 0, Func(func(s *Simulator, _ Event) { require.Equal(t, "this run", s.Context().Value(key{})) }), 0)
	require.NoError(t, s.Run(ctx))
	require.Equal(t, context.Background(), s.Context())
}

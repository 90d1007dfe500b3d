package interrupt

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReaderPassesOnWhatIsThere(t *testing.T) {
	text, err := io.ReadAll(Reader(context.Background(), strings.NewReader("some text")))
	require.NoError(t, err)
	require.Equal(t, "some text", string(text))
	text, err = io.ReadAll(File(context.Background(), func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("more")), nil
	}))
	require.NoError(t, err)
	require.Equal(t, "more", string(text))
}

func TestAReadThatBlocksEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	pipe, other := io.Pipe() // nobody writes
	defer other.Close()
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := io.ReadAll(Reader(ctx, pipe))
	require.ErrorIs(t, err, context.Canceled)
}

func TestWorkEndsByItselfOrWithTheContext(t *testing.T) {
	failed := errors.New("failed")
	require.ErrorIs(t, Do(context.Background(), func() error { return failed }), failed)
	require.NoError(t, Do(context.Background(), func() error { return nil }))
	require.PanicsWithValue(t, "at a loss", func() { _ = Do(context.Background(), func() error { panic("at a loss") }) })

	ctx, cancel := context.WithCancel(context.Background())
	never := make(chan struct{})
	defer close(never)
	require.ErrorIs(t, Do(ctx, func() error { cancel(); <-never; return nil }), context.Canceled)
	require.ErrorIs(t, Do(ctx, func() error { t.Error("it was begun"); return nil }), context.Canceled)
}

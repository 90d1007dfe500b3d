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

// What was written before an error is written, too; after the end of the context nothing is.
func TestWriteWritesWhatIsThere(t *testing.T) {
	failed := errors.New("failed")
	half := func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, failed)
	}
	var text strings.Builder
	require.ErrorIs(t, Write(context.Background(), &text, half), failed)
	require.Equal(t, "half", text.String())
	ctx, cancel := context.WithCancel(context.Background())
	text.Reset()
	require.ErrorIs(t, Write(ctx, &text, func(w io.Writer) error {
		cancel()
		<-make(chan int) // for ever
		return nil
	}), context.Canceled)
	require.Empty(t, text.String())
}

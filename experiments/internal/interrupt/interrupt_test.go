package interrupt

import (
	"context"
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

package remote

// How messages get to a scheduler and back.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Conn is a connection with a scheduler, over which requests go and replies come, in turn.
type Conn interface {
	// Ask sends a request, which has no line break, and returns the reply. The slice is good
	// until the next call. It gives up when ctx ends.
	Ask(ctx context.Context, request []byte) ([]byte, error)
	// Close ends the connection, and the scheduler if the connection has started it; the
	// scheduler gets patience to leave by itself. Close may be called again.
	Close(patience time.Duration)
}

// maxMessage is the largest length of a reply in bytes: enough for a hundred thousand decisions,
// and more.
const maxMessage = 16 << 20

// errTooLong reports a reply that has more than maxMessage bytes.
var errTooLong = fmt.Errorf("the reply is longer than %d bytes", maxMessage)

// errTwice reports a scheduler that speaks without having been asked.
var errTwice = errors.New("the scheduler has sent more than one reply to the request before")

// silent returns the error of a reader whose time was up, or that was given up. Others stay as
// they are.
func silent(ctx context.Context, timeout time.Duration, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the scheduler has not answered within %v", timeout)
	// One that ends with bytes of ours unread resets the connection, and another one ends it.
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errGone
	}
	return err
}

// errGone reports a scheduler that has closed its side, or has ended.
var errGone = errors.New("the scheduler has gone away without an answer")

// readLine reads a line into buf, and returns it without its end. The slice is good until the next call.
func readLine(r *bufio.Reader, buf *bytes.Buffer) ([]byte, error) {
	buf.Reset()
	for {
		part, err := r.ReadSlice('\n')
		if buf.Len()+len(part) > maxMessage {
			return nil, errTooLong
		}
		buf.Write(part)
		switch {
		case err == nil:
			return bytes.TrimRight(buf.Bytes(), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

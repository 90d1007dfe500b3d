// Package interrupt ends reading, and work that knows no context, when a context ends: a terminal
// or a pipe can block for ever, and large files take long.
package interrupt

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// Reader returns a reader that reads from another one until ctx ends; its error is that of ctx
// then. A Read under way is left behind: what it gets is lost.
func Reader(ctx context.Context, from io.Reader) io.Reader { return &reader{ctx: ctx, from: from} }

type reader struct {
	ctx  context.Context
	from io.Reader
	mu   sync.Mutex // a reader is one goroutine's, but calls of a command may share it
	buf  []byte
}

// answer is the result of a Read.
type answer struct {
	n   int
	err error
}

// Read reads into a buffer of its own, and copies: the Read that is left behind must not write into
// p, which belongs to the caller again.
func (r *reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.buf) < len(p) {
		r.buf = make([]byte, len(p))
	}
	buf, done := r.buf[:len(p)], make(chan answer, 1)
	go func() {
		n, err := r.from.Read(buf)
		done <- answer{n, err}
	}()
	select {
	case a := <-done:
		return copy(p, buf[:a.n]), a.err
	case <-r.ctx.Done():
		r.buf = nil // it belongs to the Read that is left behind
		return 0, r.ctx.Err()
	}
}

// File returns a reader of a file that is opened when it is first read, and closed at its end or at
// an error: opening a named pipe blocks, too, and is interrupted as a Read is.
func File(ctx context.Context, open func() (io.ReadCloser, error)) io.Reader {
	return Reader(ctx, &lazy{open: open})
}

type lazy struct {
	open func() (io.ReadCloser, error)
	file io.ReadCloser
}

func (l *lazy) Read(p []byte) (n int, err error) {
	if l.file == nil {
		if l.file, err = l.open(); err != nil {
			return 0, err
		}
	}
	n, err = l.file.Read(p)
	if err != nil {
		l.file.Close()
	}
	return n, err
}

// Do calls do and returns its error, or ctx's error if ctx ends first. In that case do may still run
// when Do returns: the caller must no longer touch what do writes into. If do panics, Do panics with
// the same value.
func Do(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	type ending struct {
		err   error
		panic any
	}
	done := make(chan ending, 1)
	go func() {
		var e ending
		defer func() {
			e.panic = recover()
			done <- e
		}()
		e.err = do()
	}()
	select {
	case e := <-done:
		if e.panic != nil {
			panic(e.panic)
		}
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write writes to w what write writes, once write has returned, with an error or without. It writes nothing,
// and returns ctx's error, if ctx ends first.
func Write(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	var (
		text   bytes.Buffer // a call that is left behind must not write into w
		failed error
	)
	if err := Do(ctx, func() error {
		failed = write(&text)
		return nil
	}); err != nil {
		return err
	}
	if _, err := text.WriteTo(w); err != nil {
		return err
	}
	return failed
}

package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Command starts a program, which is found and called without a shell, and exchanges lines with it.
// timeout is the longest time to wait for a reply, by the wall clock. The program's standard error
// is kept for an error message. The program ends with the connection, and so do the programs that
// it has started, as far as the system can tell which these are.
func Command(timeout time.Duration, words ...string) func(context.Context) (Conn, error) {
	return func(ctx context.Context) (Conn, error) {
		if len(words) == 0 {
			return nil, errors.New("no program is given that could be started")
		}
		c := &process{cmd: exec.Command(words[0], words[1:]...), timeout: timeout, ended: make(chan struct{})}
		c.cmd.Stderr, c.cmd.WaitDelay = &c.complaints, time.Second
		apart(c.cmd)
		if err := c.start(); err != nil {
			return nil, fmt.Errorf("the scheduler cannot be started: %w", err)
		}
		return c, nil
	}
}

// process is a program that is asked by lines.
//
// Its output is read by calls that block, since a reader that the runtime parks takes three
// times as long for each reply. Such a call ends only with a line, so the parent keeps a pen for
// the pipe, too, and writes a line of its own where none is to be expected any more:
//
//	to   ----> standard input   program
//	from <---- standard output  program
//	     <---- pen, when the program has ended or is cut off
type process struct {
	cmd        *exec.Cmd
	to         *os.File      // the program's standard input
	from       *os.File      // its standard output
	pen        *os.File      // the other end of from, which the program has, too
	in         *bufio.Reader // of from
	timeout    time.Duration // how long a reply is waited for
	request    []byte        // room for a request with its line break
	reply      bytes.Buffer  // the latest reply
	complaints lastBytes     // the end of its standard error
	closing    sync.Once
	watch      watch
	over       atomic.Bool   // the pen has written: a line may be ours
	ended      chan struct{} // closed when the program has ended
}

// start starts the program.
func (c *process) start() (err error) {
	var stdin, stdout *os.File
	if stdin, c.to, err = os.Pipe(); err != nil {
		return err
	}
	defer stdin.Close()
	if c.from, stdout, err = os.Pipe(); err != nil {
		_ = c.to.Close()
		return err
	}
	c.pen = stdout
	c.from.Fd() // makes reads block in the system, where the runtime would park the reader
	c.in = bufio.NewReaderSize(c.from, 1<<16)
	c.cmd.Stdin, c.cmd.Stdout = stdin, stdout
	c.watch.init(c.timeout, c.cut)
	if err := c.cmd.Start(); err != nil {
		c.watch.close()
		c.hangUp()
		return err
	}
	go func() {
		_ = c.cmd.Wait() // how it ends is told by its state
		close(c.ended)
		c.endReading()
	}()
	return nil
}

// hangUp closes the pipes.
func (c *process) hangUp() {
	_ = c.to.Close()
	_ = c.pen.Close()
	_ = c.from.Close()
}

// endReading ends the wait of whoever waits for a reply, by an empty line of our own.
func (c *process) endReading() {
	c.over.Store(true)
	_, _ = c.pen.Write([]byte{'\n'})
}

// Ask implements Conn. It ends a program that does not answer in time.
func (c *process) Ask(ctx context.Context, request []byte) ([]byte, error) {
	if c.in.Buffered() > 0 { // a line that was not asked for, or the pen's
		if c.over.Load() {
			return nil, c.gone()
		}
		return nil, errTwice
	}
	c.request = append(append(c.request[:0], request...), '\n')
	c.watch.begin(ctx)
	text, err := c.exchange()
	c.watch.end()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case c.watch.late.Load():
		return nil, fmt.Errorf("the scheduler has not answered within %v", c.timeout)
	case err != nil && !errors.Is(err, errTooLong), len(text) == 0 && c.over.Load():
		return nil, c.gone()
	}
	return text, err
}

// cut ends the program, and whatever waits for it to read or to write.
func (c *process) cut() {
	c.kill()
	_ = c.to.Close()
	c.endReading()
}

// watch cuts off a wait that takes too long, or longer than a context lasts. To begin or to end a wait only writes
// a number: a timer that is set anew for every request costs more than the request.
//
//	waits      |--|  |-|    |---------------------| cut
//	timer      set      looks     looks           looks
type watch struct {
	timeout time.Duration // the longest wait
	cut     func()        // ends a wait; may be called by another goroutine, and more than once
	late    atomic.Bool   // a wait was cut off since it took too long
	base    time.Time
	since   atomic.Int64    // when the wait under way began, in ns from base on; 0: nobody waits
	ctx     context.Context // of the last wait
	forget  func() bool     // stops the watch of ctx

	mu    sync.Mutex
	timer *time.Timer // calls look; nil when the watch is over
}

// init begins the watch.
func (w *watch) init(timeout time.Duration, cut func()) {
	w.timeout, w.cut, w.base = timeout, cut, time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(timeout, w.look)
}

// begin begins a wait.
func (w *watch) begin(ctx context.Context) {
	w.since.Store(1 + int64(time.Since(w.base)))
	if ctx != w.ctx {
		if w.forget != nil {
			w.forget()
		}
		w.ctx, w.forget = ctx, context.AfterFunc(ctx, w.cut)
	}
}

// end ends it.
func (w *watch) end() { w.since.Store(0) }

// look cuts off a wait that is too long, and looks again when the present one would be.
func (w *watch) look() {
	left, since := w.timeout, w.since.Load()
	if since > 0 {
		left -= time.Since(w.base) - time.Duration(since)
	}
	if left > 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer != nil {
			w.timer.Reset(left)
		}
		return
	}
	w.late.Store(true)
	w.cut()
}

// close ends the watch.
func (w *watch) close() {
	if w.forget != nil {
		w.forget()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// exchange writes the request and reads a line.
func (c *process) exchange() ([]byte, error) {
	if _, err := c.to.Write(c.request); err != nil {
		return nil, err
	}
	return readLine(c.in, &c.reply)
}

// kill ends the program, unless it has ended: its number may be that of another one then.
func (c *process) kill() {
	select {
	case <-c.ended:
	default:
		killGroup(c.cmd)
	}
}

// gone says how the program has ended, and what it said last.
func (c *process) gone() error {
	c.Close(time.Second)
	err := fmt.Errorf("%w (%v)", errGone, c.cmd.ProcessState)
	if last := c.complaints.lastLine(); last != "" {
		err = fmt.Errorf("%w: it says %s", err, shown([]byte(last)))
	}
	return err
}

// Close ends the program: its standard input ends first, which is a sign to go.
func (c *process) Close(patience time.Duration) {
	c.closing.Do(func() {
		c.watch.close()
		_ = c.to.Close()
		select {
		case <-c.ended:
		case <-time.After(patience):
			c.kill()
			<-c.ended
		}
		c.hangUp()
	})
}

// lastBytes is a writer that keeps the end of what is written.
type lastBytes struct {
	mu   sync.Mutex
	kept []byte
}

// Write keeps the last few thousand bytes.
func (l *lastBytes) Write(b []byte) (int, error) {
	const most = 4096
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, b[max(0, len(b)-most):]...)
	if n := len(l.kept); n > most {
		l.kept = append(l.kept[:0], l.kept[n-most:]...)
	}
	return len(b), nil
}

// lastLine returns the last line that says something.
func (l *lastBytes) lastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(l.kept))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

package remote

// ZeroMQ's wire, ZMTP 3.0 (rfc.zeromq.org/spec/23), as far as a REQ socket over TCP without
// security needs it:
//
//	greeting    64 bytes each way: signature, version 3.0, mechanism NULL
//	handshake   a command READY each way, with the property Socket-Type
//	request     an empty frame, then a frame with the message; the reply has the same form
//
// A frame is a byte of flags, its length in 1 or 8 bytes, and so many bytes.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Flags of a frame.
const (
	frameMore    = 1 // another frame of the message follows
	frameLong    = 2 // the length has 8 bytes
	frameCommand = 4
)

// connectTime is the time to wait for a scheduler that does not listen yet.
const connectTime = 10 * time.Second

// TCP connects with a scheduler that listens at an address, HOST:PORT, over ZeroMQ's wire. If
// the scheduler does not listen yet, TCP tries again for 10 seconds. Timeout is how long a
// reply is waited for.
func TCP(address string, timeout time.Duration) func(context.Context) (Conn, error) {
	return func(ctx context.Context) (Conn, error) {
		socket, err := dial(ctx, address)
		if err != nil {
			return nil, err
		}
		c := &zmtp{socket: socket, in: bufio.NewReaderSize(socket, 1<<16), timeout: timeout}
		if err := c.within(ctx, c.shakeHands); err != nil {
			socket.Close()
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		return c, nil
	}
}

// dial connects with who listens at an address, as soon as somebody does.
func dial(ctx context.Context, address string) (net.Conn, error) {
	var dialer net.Dialer
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	for {
		socket, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return socket, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no scheduler answers: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// zmtp is a REQ socket that is connected with one REP or ROUTER socket.
type zmtp struct {
	socket  net.Conn
	in      *bufio.Reader
	timeout time.Duration
	request []byte       // with its frames
	reply   bytes.Buffer // of the latest request
}

// within calls do, whose reads and writes fail when ctx ends or the time for a reply is over. From
// outside, only the socket's deadline can end them.
func (c *zmtp) within(ctx context.Context, do func() error) error {
	if err := c.socket.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	return silent(ctx, c.timeout, do())
}

// greeting returns the bytes that either side sends first (section "Grammar" of the RFC).
func greeting() []byte {
	b := make([]byte, 64)
	b[0], b[8], b[9] = 0xff, 1, 0x7f // the signature
	b[10] = 3                        // the version is 3.0
	copy(b[12:], "NULL")             // the mechanism, in 20 bytes; 0 in byte 32: we are no server of it
	return b
}

const socketType = "Socket-Type"

// shakeHands sends our greeting and READY, and checks those of the other side. An error says what speaks there
// instead of a scheduler.
func (c *zmtp) shakeHands() error {
	// Both of ours go out at once: the NULL mechanism lets either side speak first.
	ready := append([]byte("\x05READY\x0bSocket-Type"), 0, 0, 0, 3, 'R', 'E', 'Q')
	hello := append(greeting(), frameCommand, byte(len(ready)))
	if _, err := c.socket.Write(append(hello, ready...)); err != nil {
		return err
	}
	// Their greeting. Something else may send fewer bytes, such as a web server.
	theirs := make([]byte, 64)
	if n, err := io.ReadFull(c.in, theirs); err != nil {
		if n > 0 && theirs[0] != 0xff {
			return fmt.Errorf("who listens there does not speak as ZeroMQ does: it says %s", shown(theirs[:n]))
		}
		return err
	}
	switch {
	case theirs[0] != 0xff || theirs[9] != 0x7f:
		return fmt.Errorf("who listens there does not speak as ZeroMQ does: it says %s", shown(theirs))
	case theirs[10] < 3:
		return fmt.Errorf("who listens there speaks version %d of ZeroMQ's protocol, ZMTP, and 3 is wanted", theirs[10])
	}
	if mechanism := string(bytes.TrimRight(theirs[12:32], "\x00")); mechanism != "NULL" {
		return fmt.Errorf("who listens there wants the security mechanism %s, and NULL is wanted", shown([]byte(mechanism)))
	}
	// Their READY. A REQ socket talks to REP or ROUTER.
	flags, err := c.frame()
	if err != nil {
		return err
	}
	kind, err := readyOf(flags, c.reply.Bytes())
	if err == nil && kind != "REP" && kind != "ROUTER" {
		err = fmt.Errorf("who listens there has a socket of type %s, and a scheduler's is REP", shown([]byte(kind)))
	}
	return err
}

// readyOf returns the type of the other side's socket, by its command READY: a name of 1 byte of length, then
// properties, each a name with 1 byte and a value with 4 bytes of length before it.
func readyOf(flags byte, body []byte) (kind string, err error) {
	if reason, is := bytes.CutPrefix(body, []byte("\x05ERROR")); is && flags&frameCommand != 0 {
		return "", fmt.Errorf("who listens there refuses: %s", shown(reason))
	}
	properties, is := bytes.CutPrefix(body, []byte("\x05READY"))
	if flags&frameCommand == 0 || !is {
		return "", fmt.Errorf("who listens there does not say READY: %s", shown(body))
	}
	for len(properties) > 0 {
		n := int(properties[0])
		if len(properties) < 1+n+4 {
			break
		}
		name, rest := properties[1:1+n], properties[1+n:]
		length := binary.BigEndian.Uint32(rest)
		if uint64(len(rest)-4) < uint64(length) {
			break
		}
		if bytes.EqualFold(name, []byte(socketType)) {
			return string(rest[4 : 4+length]), nil
		}
		properties = rest[4+length:]
	}
	return "", errors.New("who listens there does not say of which type its socket is")
}

// frame reads a frame, whose bytes it appends to the reply, and returns its flags. The reply has at most
// maxMessage bytes.
func (c *zmtp) frame() (flags byte, err error) {
	var head [9]byte // flags and length
	if _, err := io.ReadFull(c.in, head[:2]); err != nil {
		return 0, err
	}
	flags, length := head[0], uint64(head[1])
	if flags&^(frameMore|frameLong|frameCommand) != 0 {
		return flags, fmt.Errorf("the scheduler does not keep to ZeroMQ's protocol: a frame has the flags %#x", flags)
	}
	if flags&frameLong != 0 {
		if _, err := io.ReadFull(c.in, head[2:]); err != nil {
			return 0, err
		}
		length = binary.BigEndian.Uint64(head[1:])
	}
	if length > uint64(maxMessage-min(c.reply.Len(), maxMessage)) {
		return flags, errTooLong
	}
	_, err = io.CopyN(&c.reply, c.in, int64(length)) // grows as bytes come, not as they are announced
	return flags, err
}

// Ask implements Conn. A REQ socket sends an empty frame before the message.
func (c *zmtp) Ask(ctx context.Context, request []byte) ([]byte, error) {
	if c.in.Buffered() > 0 {
		return nil, errTwice
	}
	c.request = append(c.request[:0], frameMore, 0)
	if n := len(request); n < 256 {
		c.request = append(c.request, 0, byte(n))
	} else {
		c.request = append(c.request, frameLong)
		c.request = binary.BigEndian.AppendUint64(c.request, uint64(n))
	}
	c.request = append(c.request, request...)
	err := c.within(ctx, func() error {
		if _, err := c.socket.Write(c.request); err != nil {
			return err
		}
		return c.readReply()
	})
	return c.reply.Bytes(), err
}

// readReply reads the frames of a message: an empty one, which some leave out, and what the
// scheduler says. Commands between them, such as PING, say nothing.
func (c *zmtp) readReply() error {
	c.reply.Reset()
	for {
		from := c.reply.Len()
		flags, err := c.frame()
		switch {
		case err != nil:
			return err
		case flags&frameCommand != 0:
			c.reply.Truncate(from)
		case flags&frameMore == 0:
			return nil
		}
	}
}

// Close hangs up.
func (c *zmtp) Close(time.Duration) { _ = c.socket.Close() }

package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Server is how a server is reached.
type Server struct {
	URL   string // such as nats://127.0.0.1:4222, several with commas between them
	Token string
	CA    string // file with the certificate that vouches for the server's; "" means the system's
}

// errRefused is that a server does not let this program in; trying again is of no use.
type errRefused struct{ err error }

func (e *errRefused) Error() string { return e.err.Error() }
func (e *errRefused) Unwrap() error { return e.err }

// connect dials once. A connection that breaks later is made again and again; tell
// hears of that.
func (s Server) connect(name string, tell func(string, ...any)) (*nats.Conn, error) {
	opts := []nats.Option{
		nats.Name("gridslot " + name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1), // whoever publishes while there is no connection shall know
		nats.PingInterval(20 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if err != nil && !nc.IsClosed() {
				tell("the connection to the server is lost (%v): trying again", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { tell("the server is back") }),
	}
	if s.Token != "" {
		opts = append(opts, nats.Token(s.Token))
	}
	if s.CA != "" {
		opts = append(opts, nats.RootCAs(s.CA))
	}
	nc, err := (*nats.Conn)(nil), s.check()
	if err == nil {
		if nc, err = nats.Connect(s.URL, opts...); err == nil {
			return nc, nil
		}
	}
	switch {
	case errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired):
		err = &errRefused{errors.New("it refuses the token (--token, --token-file)")}
	case isTLS(err):
		err = &errRefused{fmt.Errorf("%w (--tls-ca names the file with the certificate that vouches for the server's)", err)}
	case errors.Is(err, nats.ErrNoServers):
		err = errors.New("nobody answers there")
	}
	return nil, fmt.Errorf("connecting to the NATS server %s: %w", s.public(), err)
}

// check refuses addresses behind which no NATS server can be.
func (s Server) check() error {
	for one := range strings.SplitSeq(s.URL, ",") {
		scheme, _, given := strings.Cut(strings.TrimSpace(one), "://")
		if given && !slices.Contains([]string{"nats", "tls", "ws", "wss"}, scheme) {
			return &errRefused{fmt.Errorf("want an address such as nats://host:4222, not one of %s", scheme)}
		}
	}
	return nil
}

// isTLS reports whether the two sides did not agree on a secure connection.
func isTLS(err error) bool {
	return errors.Is(err, nats.ErrSecureConnRequired) || errors.Is(err, nats.ErrSecureConnWanted) ||
		strings.Contains(err.Error(), "x509:") || strings.Contains(err.Error(), "tls:")
}

// public is the address without what is secret in it.
func (s Server) public() string {
	urls := strings.Split(s.URL, ",")
	for i, u := range urls {
		if at := strings.LastIndex(u, "@"); at >= 0 {
			scheme := ""
			if j := strings.Index(u, "://"); j >= 0 {
				scheme = u[:j+3]
			}
			urls[i] = scheme + u[at+1:]
		}
	}
	return strings.Join(urls, ",")
}

// code is the number of an error of the server's, or 0.
func code(err error) jetstream.ErrorCode {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode
	}
	return 0
}

// already reports whether err says that a message is not the first on its subject,
// and nothing else: no other error may count as that.
func already(err error) bool {
	c := code(err)
	return c == jetstream.JSErrCodeStreamWrongLastSequence || c == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}

// Errors of a server whose store is full: at its limit, at a stream's reservation.
const (
	insufficientResources jetstream.ErrorCode = 10023
	storageExceeded       jetstream.ErrorCode = 10047
)

func full(err error) bool {
	c := code(err)
	return c == insufficientResources || c == storageExceeded
}

// first publishes a message that has to be the first on its subject; nil also where
// there is one already.
func first(ctx context.Context, js jetstream.JetStream, subject string, data []byte) error {
	_, err := js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0))
	if already(err) {
		return nil
	}
	return err
}

// pause waits, less where ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

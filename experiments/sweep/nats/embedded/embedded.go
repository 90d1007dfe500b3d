// Package embedded is a NATS server within this program, for studies that have no
// other; see package nats.
//
//	server, err := embedded.Start(embedded.Config{Dir: "results/.nats"})
//	defer server.Close()
//	... server.URL() ...
//
// It is a package of its own because of what it takes to compile; see
// docs/design/dependencies.md.
package embedded

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config is how a server listens and where it keeps what it has to.
type Config struct {
	// Listen is an address such as 127.0.0.1:4222 or :4222. Without one it is
	// port 4222 of this machine alone, or another port where that is taken.
	Listen string
	// Token is what clients have to know. None is needed where only this machine can
	// reach the server.
	Token string
	// Cert and Key are files with the server's certificate and its key; with
	// them connections are secure.
	Cert, Key string
	// Dir is the folder for queues and results. A server that is started again with it
	// goes on with them.
	Dir string
	// Store is how many bytes it may take there; 0 means three quarters of what is free.
	Store int64
}

// Server is one that runs.
type Server struct {
	inner  *server.Server
	secure bool
	name   string // by which this machine reaches it, where the address does not say
}

const port = 4222

// Start starts a server and waits until it can be reached.
func Start(c Config) (*Server, error) {
	o := &server.Options{
		ServerName: "gridslot", Host: "127.0.0.1", Port: port, Authorization: c.Token,
		JetStream: true, StoreDir: c.Dir, JetStreamMaxStore: c.Store,
		MaxPayload: 8 << 20, NoSigs: true, NoLog: true,
	}
	if c.Listen != "" {
		host, number, err := net.SplitHostPort(c.Listen)
		if err == nil {
			o.Port, err = strconv.Atoi(number)
		}
		if err != nil || o.Port < 0 || o.Port > 65535 {
			return nil, fmt.Errorf("the address to listen on (--listen) is like 127.0.0.1:4222 or :4222, not %q", c.Listen)
		}
		o.Host = host
		if host == "" {
			o.Host = "0.0.0.0"
		}
		if o.Port == 0 {
			o.Port = server.RANDOM_PORT
		}
	}
	if c.Token == "" && !loopback(o.Host) {
		return nil, fmt.Errorf("others can reach a server that listens on %s: it needs a token (--token-file)", net.JoinHostPort(o.Host, strconv.Itoa(o.Port)))
	}
	if (c.Cert == "") != (c.Key == "") {
		return nil, errors.New("a certificate and its key belong together (--tls-cert, --tls-key)")
	}
	name := ""
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the server's certificate: %w", err)
		}
		if leaf := pair.Leaf; leaf != nil && leaf.VerifyHostname("127.0.0.1") != nil && len(leaf.DNSNames) > 0 {
			name = leaf.DNSNames[0] // clients compare the name that they know
		}
		o.TLS, o.TLSConfig = true, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if o.Port > 0 {
		taken, err := net.Listen("tcp", net.JoinHostPort(o.Host, strconv.Itoa(o.Port)))
		switch {
		case err == nil:
			taken.Close()
		case c.Listen == "":
			o.Port = server.RANDOM_PORT
		default:
			return nil, fmt.Errorf("starting a NATS server (--listen): %w", err)
		}
	}
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("making a folder for the NATS server: %w", err)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("starting a NATS server: %w", err)
	}
	s.Start()
	if s.Addr() == nil && o.Port == port && c.Listen == "" { // taken a moment ago
		s.Shutdown()
		o.Port = server.RANDOM_PORT
		if s, err = server.NewServer(o); err != nil {
			return nil, fmt.Errorf("starting a NATS server: %w", err)
		}
		s.Start()
	}
	if !s.ReadyForConnections(time.Minute) {
		s.Shutdown()
		return nil, fmt.Errorf("the NATS server in %s did not come up within a minute", c.Dir)
	}
	if !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, fmt.Errorf("the NATS server cannot keep anything in %s", c.Dir)
	}
	return &Server{s, c.Cert != "", name}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// URL is where clients on this machine reach the server.
func (s *Server) URL() string {
	if s.name != "" {
		return s.url(s.name)
	}
	return s.URLFor("127.0.0.1")
}

// URLFor is where clients on other machines reach it, if they can: name is this
// machine's.
func (s *Server) URLFor(name string) string {
	if addr, ok := s.inner.Addr().(*net.TCPAddr); ok && !addr.IP.IsUnspecified() {
		name = addr.IP.String()
	}
	return s.url(name)
}

func (s *Server) url(host string) string {
	port := 0
	if addr, ok := s.inner.Addr().(*net.TCPAddr); ok {
		port = addr.Port
	}
	scheme := "nats://"
	if s.secure {
		scheme = "tls://"
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(port))
}

// Close ends the server. What it keeps stays in its folder.
func (s *Server) Close() {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
}

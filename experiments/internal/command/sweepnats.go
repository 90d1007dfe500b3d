package command

// Studies over a NATS server: the flags of --engine nats of sweep, and of worker.

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// NATS is what flags say of a NATS server.
type NATS struct {
	URL, Token, TokenFile, CA string

	// Listen, Cert and Key are of a server within this command, which there is without URL.
	Listen, Cert, Key string
	// Keep leaves the study on the server when it is done.
	Keep bool
}

// AddServer defines the flags that say how a server is reached.
func (n *NATS) AddServer(flags *pflag.FlagSet, url string) {
	flags.StringVar(&n.URL, "url", "", url)
	flags.StringVar(&n.Token, "token", "", "that the server wants to know; others on this machine see it among its processes: better --token-file")
	flags.StringVar(&n.TokenFile, "token-file", "", "file with the token")
	flags.StringVar(&n.CA, "tls-ca", "", "file with the certificate that vouches for the server's")
}

// ReadToken reads the token from its file, if there is one.
func (n *NATS) ReadToken() error {
	if n.TokenFile == "" {
		return nil
	}
	if n.Token != "" {
		return Usagef("give --token or --token-file, not both")
	}
	text, err := os.ReadFile(n.TokenFile)
	if err != nil {
		return fmt.Errorf("reading the token (--token-file): %w", err)
	}
	if n.Token = strings.TrimSpace(string(text)); n.Token == "" {
		return fmt.Errorf("%s is to hold a token, and is empty", n.TokenFile)
	}
	return nil
}

func natsEngine() sweepEngine {
	var given NATS
	f := pflag.NewFlagSet("nats", pflag.ContinueOnError)
	f.SortFlags = false
	given.AddServer(f, "of the NATS server, such as nats://host:4222 (default: a server within this command)")
	f.StringVar(&given.Listen, "listen", "", "address of the server within this command, such as :4222 to be reached from other machines (default: this machine alone)")
	f.StringVar(&given.Cert, "tls-cert", "", "file with the certificate of the server within this command")
	f.StringVar(&given.Key, "tls-key", "", "file with its key")
	f.BoolVar(&given.Keep, "keep-queue", false, "leave the study on the server when it is done")
	return sweepEngine{
		name: "nats", text: "workers on any machines ('gridslot worker'), by a NATS server", flags: f,
		engine: func(s *sweeping) (sweep.Engine, error) {
			if s.env.Parts.NATS == nil {
				return nil, &errHandOver{"--engine nats"}
			}
			n := given
			if err := n.ReadToken(); err != nil {
				return nil, err
			}
			if n.URL != "" && (n.Listen != "" || n.Cert != "" || n.Key != "") {
				return nil, Usagef("--listen, --tls-cert and --tls-key are of a server within this command, and --url names another")
			}
			local, err := s.local()
			if err != nil {
				return nil, err
			}
			return s.env.Parts.NATS(n, local), nil
		},
	}
}

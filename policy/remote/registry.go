package remote

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
)

// Registry returns the table of policies that ask a scheduler outside. They keep state: parse a
// spec anew for each run.
func Registry() policy.Table[entity.Policy] {
	return policy.Table[entity.Policy]{
		policy.Row("remote", "a scheduler that speaks Batsim's protocol 3 or 4 and listens at an address", func(s *policy.Settings) entity.Policy {
			address := s.Operand("tcp://HOST:PORT")
			p := &Policy{Label: "remote:" + address}
			timeout := p.settings(s)
			host, err := hostOf(address)
			s.Check(err)
			p.Open = TCP(host, timeout)
			return p
		}),
		policy.Row("exec", "a program that speaks Batsim's protocol by lines of JSON on its standard input and output", func(s *policy.Settings) entity.Policy {
			command := s.Operand("COMMAND")
			p := &Policy{Label: "exec:" + command}
			timeout := p.settings(s)
			words, err := wordsOf(command)
			s.Check(err)
			p.Open = Command(timeout, words...)
			return p
		}),
	}
}

// defaultTimeout is the longest time to wait for a reply, by the wall clock, if no other is given.
const defaultTimeout = time.Minute

// settings declares the parameters, and returns how long a reply is waited for.
func (p *Policy) settings(s *policy.Settings) time.Duration {
	timeout := defaultTimeout.Seconds()
	s.Seconds(&timeout, "timeout", "how long a reply is waited for, by the clock on the wall (60)")
	s.OnOff(&p.Profiles, "profiles", "the scheduler is told how long each job really takes (off)")
	s.OnOff(&p.Dynamic, "dynamic", "the scheduler may register jobs of its own (off)")
	s.OnOff(&p.Acknowledge, "acknowledge", "it is told of those as of others (off)")
	s.OnOff(&p.Power, "power", "it switches nodes on and off (off)")
	return time.Duration(timeout * float64(time.Second))
}

// hostOf returns the HOST:PORT of an address.
func hostOf(address string) (string, error) {
	host, is := strings.CutPrefix(address, "tcp://")
	_, port, err := net.SplitHostPort(host)
	if !is || err != nil || port == "" {
		return "", fmt.Errorf("the address is %s: want tcp://HOST:PORT", shown([]byte(address)))
	}
	return host, nil
}

// wordsOf cuts a command into words at blanks. What stands between ' or " is one word, or a part of
// one, as in a shell. Nothing else has a meaning: there are no variables, patterns or pipes.
func wordsOf(command string) (words []string, err error) {
	var word strings.Builder
	begun, quote := false, rune(0)
	end := func() {
		if begun {
			words = append(words, word.String())
			word.Reset()
			begun = false
		}
	}
	for _, c := range command {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t' || c == '\n':
			end()
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	end()
	switch {
	case quote != 0:
		return nil, fmt.Errorf("the command %s: a quote %c is not closed", shown([]byte(command)), quote)
	case len(words) == 0:
		return nil, fmt.Errorf("want a command, such as exec:./my.py")
	}
	return words, nil
}

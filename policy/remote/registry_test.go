package remote

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsAskedForByName(t *testing.T) {
	for spec, name := range map[string]string{
		"remote:tcp://127.0.0.1:28000":            "remote:tcp://127.0.0.1:28000",
		"remote:tcp://[::1]:28000:timeout=5m":     "remote:tcp://[::1]:28000",
		"exec:./my.py --depth 5:profiles=on":      "exec:./my.py --depth 5",
		"exec:'python3 my.py':dynamic=on":         "exec:python3 my.py",
		"exec:./my.py:acknowledge=on:timeout=0.5": "exec:./my.py",
		"exec:'./my.py a:b=c'":                    "exec:./my.py a:b=c",
		"exec:'my own.py' 'a:b=c':timeout=5":      "exec:'my own.py' 'a:b=c'",
	} {
		c, err := Registry().Parse(spec)
		require.NoError(t, err, spec)
		require.Equal(t, name, c.Value.Name())
	}
	c, err := Registry().Parse("exec:x:dynamic=on:profiles=on:acknowledge=on")
	require.NoError(t, err)
	p := c.Value.(*Policy)
	require.True(t, p.Dynamic && p.Profiles && p.Acknowledge)
	for spec, want := range map[string]string{
		"remote":                 "remote is asked for as remote:tcp://HOST:PORT",
		"remote:127.0.0.1:28000": `the address is "127.0.0.1:28000": want tcp://HOST:PORT`,
		"remote:tcp://host":      "want tcp://HOST:PORT",
		"remote:tcp://host:":     "want tcp://HOST:PORT",
		"remote:ipc://file":      "want tcp://HOST:PORT",
		"exec":                   "exec is asked for as exec:COMMAND",
		"exec:x:timeout=0":       "a number above 0",
		"exec:x:profiles=yes":    "on or off",
		`exec:"' '`:              "a quote",
		"exec:./x:power-cap=9":   `exec does not take "power-cap"; it takes timeout, profiles, dynamic, acknowledge, power; a text with a colon stands in quotes behind exec`,
		"exec:'x':power-cap=9":   `exec does not take "power-cap"`,
		"exec:x:timout=5":        `did you mean "timeout"?`,
		"exec:'x':y":             "not of the form name=value",
	} {
		_, err := Registry().Parse(spec)
		require.ErrorContains(t, err, want, spec)
	}
}

func TestWordsAreThoseOfAShell(t *testing.T) {
	for command, want := range map[string][]string{
		"./my.py":             {"./my.py"},
		"  a\t b  'c d' ":     {"a", "b", "c d"},
		`a"b c"d ''`:          {"ab cd", ""},
		`"it's" $HOME *.py|x`: {"it's", "$HOME", "*.py|x"},
	} {
		words, err := wordsOf(command)
		require.NoError(t, err)
		require.Equal(t, want, words, command)
	}
	for command, want := range map[string]string{"": "want a command", " ": "want a command", "a 'b": "is not closed"} {
		_, err := wordsOf(command)
		require.ErrorContains(t, err, want)
	}
}

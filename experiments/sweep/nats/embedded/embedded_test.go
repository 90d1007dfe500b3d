package embedded

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAddressThatOthersReachNeedsAToken(t *testing.T) {
	for _, listen := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"} {
		_, err := Start(Config{Listen: listen, Dir: t.TempDir()})
		require.ErrorContains(t, err, "it needs a token", listen)
	}
	for _, c := range []Config{{}, {Listen: "127.0.0.1:0"}, {Listen: "localhost:0"}, {Listen: ":0", Token: "secret"}} {
		c.Dir = t.TempDir()
		s, err := Start(c)
		require.NoError(t, err)
		require.Regexp(t, `^nats://127\.0\.0\.1:\d+$`, s.URL())
		s.Close()
	}
}

func TestAPortThatIsTakenIsSaidWhereItWasAskedFor(t *testing.T) {
	first, err := Start(Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer first.Close()
	second, err := Start(Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer second.Close()
	require.NotEqual(t, first.URL(), second.URL())
	_, err = Start(Config{Listen: first.URL()[len("nats://"):], Dir: t.TempDir()})
	require.ErrorContains(t, err, "--listen")
}

func TestWrongSettingsAreSaid(t *testing.T) {
	for _, c := range []struct {
		Config
		words string
	}{
		{Config{Listen: "4222"}, "is like 127.0.0.1:4222"},
		{Config{Listen: "127.0.0.1:x"}, "is like 127.0.0.1:4222"},
		{Config{Listen: "127.0.0.1:70000"}, "is like 127.0.0.1:4222"},
		{Config{Listen: "127.0.0.1:0", Cert: "cert.pem"}, "a certificate and its key belong together"},
		{Config{Listen: "127.0.0.1:0", Cert: "none.pem", Key: "none.pem"}, "reading the server's certificate: open none.pem"},
		{Config{Listen: "127.0.0.1:0", Dir: "/dev/null/x"}, "making a folder for the NATS server: mkdir /dev/null"},
	} {
		_, err := Start(c.Config)
		require.ErrorContains(t, err, c.words)
	}
}

package nats

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

// certificate writes one for this machine that vouches for itself.
func certificate(t *testing.T) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", secret)
}

func TestConnectionsAreSecureWithACertificate(t *testing.T) {
	cert, key := certificate(t)
	server := within(t, embedded.Config{Cert: cert, Key: key, Token: "secret"})
	require.True(t, strings.HasPrefix(server.URL, "tls://"))
	s := newTrial(t, 5, 0)
	for _, url := range []string{server.URL, strings.Replace(server.URL, "tls://", "nats://", 1)} {
		_, err := s.run(context.Background(), Engine{Server: Server{URL: url, Token: "secret"}, Workers: 1}, nil)
		require.ErrorContains(t, err, "--tls-ca")
	}
	other, _ := certificate(t)
	p := start(t, worker(t, Server{URL: server.URL, Token: "secret", CA: other}))
	err, ended := p.wait(soon)
	require.True(t, ended)
	require.Error(t, err)
	require.Contains(t, p.said.String(), "--tls-ca")

	server.CA = cert
	start(t, worker(t, server))
	require.NoError(t, s.start(t, Engine{Server: server}).wait(t))
	s.same(t)
}

func TestASecureConnectionIsNotGivenUpForAPlainOne(t *testing.T) {
	cert, _ := certificate(t)
	server := within(t, embedded.Config{})
	server.CA = cert
	_, err := newTrial(t, 1, 0).run(context.Background(), Engine{Server: server, Workers: 1}, nil)
	require.ErrorContains(t, err, "--tls-ca")
}

func TestWhatIsSecretInAnAddressIsNotTold(t *testing.T) {
	require.Equal(t, "nats://host:4222,host:1,tls://b", Server{URL: "nats://secret@host:4222,u:p@host:1,tls://b"}.public())
}

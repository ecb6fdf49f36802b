package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// browserRoot is the certificate authority of all edges that browsers use, and its key, in PEM:
// clients read what they trust when they start, before there are all edges.
var browserRoot = sync.OnceValues(func() (files map[string][]byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "Root of Millrace's tests"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(10 * 365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	return map[string][]byte{
		"root.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		"root.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
	}, err
})

// PutBrowserRoot makes browserRoot the authority of an edge, in Caddy's layout of the
// folder storage.
func PutBrowserRoot(t *testing.T, storage string) {
	t.Helper()
	dir := filepath.Join(storage, "pki", "authorities", "local")
	must(t, os.MkdirAll(dir, 0o700))
	for name, text := range value(browserRoot())(t) {
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
}

// ForBrowsers is the option of an edge with the same authority as all others with it, on all
// addresses of localhost: for a WebTransport session, Chromium tries only one of them.
func ForBrowsers(e *Edge) {
	e.forBrowsers = true
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil { // not every machine has IPv6
		return
	}
	probe.Close()
	e.Bind = "127.0.0.1 [::1]"
}

package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
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

// BrowserRootFolder is a variable of the environment: the folder from which another process
// has its [BrowserRoot], in root.crt and root.key.
const BrowserRootFolder = "MILLRACE_BROWSER_ROOT"

// BrowserRoot returns the certificate authority, in PEM, of all edges that browsers use:
// Firefox reads its trusted authorities when it starts, before there is an edge.
func BrowserRoot(t *testing.T) (certificate, key []byte) {
	t.Helper()
	made := madeBrowserRoot()
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.certificate, made.key
}

var madeBrowserRoot = sync.OnceValue(func() (made struct {
	certificate, key []byte
	err              error
}) {
	if dir := os.Getenv(BrowserRootFolder); dir != "" {
		if made.certificate, made.err = os.ReadFile(filepath.Join(dir, "root.crt")); made.err == nil {
			made.key, made.err = os.ReadFile(filepath.Join(dir, "root.key"))
		}
		return made
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		made.err = err
		return made
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Root of Millrace's tests"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(10 * 365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		made.err = err
		return made
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	made.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	made.key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
	made.err = err
	return made
})

// BrowserLeaf returns a certificate for localhost and these addresses, issued by [BrowserRoot].
func BrowserLeaf(t *testing.T, addresses ...string) tls.Certificate {
	t.Helper()
	root, err := tls.X509KeyPair(BrowserRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, root.Leaf, key.Public(), root.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
}

// PutBrowserRoot makes [browserRoot] the authority of an edge, in Caddy's layout of the
// folder storage.
func PutBrowserRoot(t *testing.T, storage string) {
	t.Helper()
	certificate, key := BrowserRoot(t)
	dir := filepath.Join(storage, "pki", "authorities", "local")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"root.crt": certificate, "root.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ForBrowsers is the option of an edge with [browserRoot], on all addresses of localhost:
// for a WebTransport session, Chromium tries only one of them.
func ForBrowsers(e *Edge) {
	e.forBrowsers = true
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil { // not every machine has IPv6
		return
	}
	probe.Close()
	e.Bind = "127.0.0.1 [::1]"
}

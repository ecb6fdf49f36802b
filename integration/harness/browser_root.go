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
	pair := value(browserRoot())(t)
	return pair[0], pair[1]
}

var browserRoot = sync.OnceValues(func() (pair [2][]byte, err error) {
	if dir := os.Getenv(BrowserRootFolder); dir != "" {
		for i, name := range rootFiles {
			if pair[i], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				return pair, err
			}
		}
		return pair, nil
	}
	certificate, key, err := issueCertificate(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Root of Millrace's tests"}, NotAfter: time.Now().Add(10 * 365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, tls.Certificate{})
	if err != nil {
		return pair, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	pair[0] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	pair[1] = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
	return pair, err
})

var rootFiles = [2]string{"root.crt", "root.key"}

// issueCertificate issues a certificate by a parent, or, if that is empty, by itself.
func issueCertificate(template *x509.Certificate, parent tls.Certificate) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if parent.Leaf == nil {
		parent.Leaf, parent.PrivateKey = template, key
	}
	template.SerialNumber, template.NotBefore = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour)
	certificate, err := x509.CreateCertificate(rand.Reader, template, parent.Leaf, key.Public(), parent.PrivateKey)
	return certificate, key, err
}

// BrowserLeaf returns a certificate for localhost and these addresses, issued by [BrowserRoot].
func BrowserLeaf(t *testing.T, addresses ...string) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	certificate, key, err := issueCertificate(template, value(tls.X509KeyPair(BrowserRoot(t)))(t))
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
}

// PutBrowserRoot makes [BrowserRoot] the authority of an edge, in Caddy's layout of the
// folder storage.
func PutBrowserRoot(t *testing.T, storage string) {
	t.Helper()
	dir := filepath.Join(storage, "pki", "authorities", "local")
	must(t, os.MkdirAll(dir, 0o700))
	for i, text := range value(browserRoot())(t) {
		must(t, os.WriteFile(filepath.Join(dir, rootFiles[i]), text, 0o600))
	}
}

// ForBrowsers is the option of an edge with [BrowserRoot], on all addresses of localhost:
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

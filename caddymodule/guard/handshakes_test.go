package guard

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"runtime"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddytls"
)

// A connection's TLS configuration does what Caddy's does, as long as the server holds that.
func TestDetach(t *testing.T) {
	asked := errors.New("Caddy's own")
	config := &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, asked },
		GetEncryptedClientHelloKeys: func(*tls.ClientHelloInfo) ([]tls.EncryptedClientHelloKey, error) {
			return nil, asked
		},
		VerifyPeerCertificate: func([][]byte, [][]*x509.Certificate) error { return asked },
		VerifyConnection:      func(tls.ConnectionState) error { return asked },
	}
	check := func(when string, want error) {
		t.Helper()
		_, err := config.GetCertificate(nil)
		_, err2 := config.GetEncryptedClientHelloKeys(nil)
		for i, err := range []error{err, err2, config.VerifyPeerCertificate(nil, nil), config.VerifyConnection(tls.ConnectionState{})} {
			if err != want {
				t.Errorf("%s, function %d: got %v, want %v", when, i, err, want)
			}
		}
	}
	h := new(handshakes)
	for range 2 { // TCP and QUIC
		h.detach(caddytls.ConnectionPolicies{{TLSConfig: config}, {TLSConfig: new(tls.Config)}, {}})
	}
	runtime.GC()
	check("with its server", asked)
	runtime.KeepAlive(h)
	runtime.GC()
	check("without it", errReplaced)
}

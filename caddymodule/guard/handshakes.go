package guard

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"sync"
	"weak"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
)

// handshakes are the TLS configurations of a server as Caddy made them. A connection keeps
// the [tls.Config] of its handshake for as long as it lives, and the functions in Caddy's
// hold everything that was configured with them. So the server holds Caddy's, and
// connections get functions that find these by a weak pointer.
//
// A handshake over TCP holds its server. One over QUIC that is still under way when its
// configuration is gone, as when a client is asked for a certificate, fails.
type handshakes struct {
	once sync.Once
	held []*tls.Config
}

var errReplaced = errors.New("the server's configuration was replaced during the handshake; connect again")

// detach is called before the first handshake, and after Caddy has made the policies.
func (h *handshakes) detach(policies caddytls.ConnectionPolicies) {
	h.once.Do(func() {
		for _, p := range policies {
			if p.TLSConfig != nil {
				h.held = append(h.held, detach(p.TLSConfig))
			}
		}
	})
}

// detach replaces the functions of a TLS configuration, and returns what they need.
func detach(c *tls.Config) (original *tls.Config) {
	original = c.Clone()
	found := weak.Make(original)
	if c.GetCertificate != nil {
		c.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if o := found.Value(); o != nil {
				return o.GetCertificate(hello)
			}
			return nil, errReplaced
		}
	}
	if c.GetEncryptedClientHelloKeys != nil {
		c.GetEncryptedClientHelloKeys = func(hello *tls.ClientHelloInfo) ([]tls.EncryptedClientHelloKey, error) {
			if o := found.Value(); o != nil {
				return o.GetEncryptedClientHelloKeys(hello)
			}
			return nil, errReplaced
		}
	}
	if c.VerifyPeerCertificate != nil {
		c.VerifyPeerCertificate = func(raw [][]byte, chains [][]*x509.Certificate) error {
			if o := found.Value(); o != nil {
				return o.VerifyPeerCertificate(raw, chains)
			}
			return errReplaced
		}
	}
	if c.VerifyConnection != nil {
		c.VerifyConnection = func(state tls.ConnectionState) error {
			if o := found.Value(); o != nil {
				return o.VerifyConnection(state)
			}
			return errReplaced
		}
	}
	return original
}

// detachHandshakes is [handshakes.detach] for a server with a guard.
func detachHandshakes(srv *caddyhttp.Server) {
	if h, ok := guardedServers.Load(weak.Make(srv)); ok {
		h.(weak.Pointer[handshakes]).Value().detach(srv.TLSConnPolicies) // srv holds it
	}
}

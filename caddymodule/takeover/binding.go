package takeover

import (
	"crypto/tls"
	"errors"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// binding is a configuration's use of a port: its server with its certificates.
type binding struct {
	server  *caddyhttp.Server
	handler http.Handler
	tls     *tls.Config
}

// add puts a configuration into effect. It reports false if the port is closing.
func (p *port) add(b *binding) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return false
	}
	p.bindings = append(p.bindings, b)
	return true
}

// remove ends a configuration's use. If it was in effect, as after a reload that
// failed half way, the one before it is in effect again. If it was the last, remove
// reports true: the port opens no more sessions, and goes on serving with it.
func (p *port) remove(b *binding) (last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.bindings) > 1 {
		p.bindings = slices.DeleteFunc(p.bindings, func(other *binding) bool { return other == b })
	} else if p.bindings[0] == b && !p.closing {
		p.closing, last = true, true
	}
	return last
}

// current returns the current binding, which each handshake and each request uses.
func (p *port) current() *binding {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.bindings[len(p.bindings)-1]
}

// isClosing reports whether the last configuration has left the port.
func (p *port) isClosing() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.closing
}

// tlsConfig asks the current configuration for each handshake.
func (p *port) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, // QUIC has no other
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			config := p.current().tls
			if config.GetConfigForClient == nil {
				return nil, errors.New("the server has no TLS connection policies")
			}
			return config.GetConfigForClient(hello)
		},
		GetEncryptedClientHelloKeys: func(hello *tls.ClientHelloInfo) ([]tls.EncryptedClientHelloKey, error) {
			config := p.current().tls
			if config.GetEncryptedClientHelloKeys == nil {
				return nil, nil
			}
			return config.GetEncryptedClientHelloKeys(hello)
		},
	}
}

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

// add puts a configuration in force. It reports false if the port is closing.
func (p *port) add(b *binding) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return false
	}
	p.stack = append(p.stack, b)
	return true
}

// remove ends a configuration's use. If it was in force, as after a reload that
// failed half way, the one before is again. If it was the last, the port accepts
// no connection any more, and goes on serving those it has with it: remove
// reports true then.
func (p *port) remove(b *binding) (last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.stack) > 1 {
		p.stack = slices.DeleteFunc(p.stack, func(other *binding) bool { return other == b })
	} else if p.stack[0] == b && !p.closing {
		p.closing, last = true, true
	}
	return last
}

// current returns the binding in force, which each handshake and each request uses.
func (p *port) current() *binding {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.stack[len(p.stack)-1]
}

func (p *port) leaving() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.closing
}

// tlsConfig asks the configuration in force for each handshake.
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

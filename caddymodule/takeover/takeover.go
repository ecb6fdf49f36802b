package takeover

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// ports are open as long as a configuration uses them, so that their connections
// outlive a reload. The key is the UDP address.
var ports = caddy.NewUsagePool()

// Takeover is what one configuration has taken over.
type Takeover struct {
	handler func(*caddyhttp.Server) http.Handler
	storage certmagic.Storage
	log     *zap.Logger

	claims []*claim // in the order in which they were made

	mu     sync.Mutex
	leases []lease // between Start and Close
}

// lease is one binding of a configuration to a port.
type lease struct {
	port    *port
	binding *binding
}

// New returns the takeover of a configuration, without any claim. handler returns
// the handler of a server's requests: the server itself, and what stands before it. It is
// asked when the TLS policies of the server are complete.
// storage holds the key for stateless resets; with nil there are none. log outlives
// the configuration.
func New(handler func(*caddyhttp.Server) http.Handler, storage certmagic.Storage, log *zap.Logger) *Takeover {
	return &Takeover{handler: handler, storage: storage, log: log}
}

// Start takes over the ports of the claimed servers. If it fails, it has taken none.
func (t *Takeover) Start(ctx caddy.Context) error {
	for _, c := range t.claims {
		b := &binding{server: c.server, tls: c.server.TLSConnPolicies.TLSConfig(ctx)} // which completes the policies
		b.handler = t.handler(c.server)
		for _, address := range c.addresses {
			p, err := leasePort(address, b, t.storage, t.log)
			if err != nil {
				t.Quiesce()
				return errors.Join(err, t.Close(0))
			}
			t.mu.Lock()
			t.leases = append(t.leases, lease{p, b})
			t.mu.Unlock()
		}
	}
	for _, c := range t.claims {
		advertise(c)
	}
	return nil
}

// Report logs what is served over HTTP/3 here: Caddy has logged that it serves none. The configuration
// is in effect.
func (t *Takeover) Report() {
	for _, c := range t.claims {
		var addresses []string
		for _, a := range c.addresses {
			addresses = append(addresses, a.String())
		}
		t.log.Info("HTTP/3 is served in Caddy's place, with WebTransport",
			zap.String("server", c.server.Name()), zap.Strings("addresses", addresses))
	}
}

// Quiesce takes the servers off their ports. A port that no other configuration
// uses opens no more sessions; until Close it answers everything else as before, so
// that a client learns at once that it has to go elsewhere. Quiesce returns the
// names of these ports, which their sessions carry.
func (t *Takeover) Quiesce() (closing []string) {
	for _, c := range t.claims {
		unadvertise(c)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.leases {
		if l.port.remove(l.binding) {
			closing = append(closing, l.port.key)
		}
	}
	return closing
}

// Close gives the ports back and closes those that nobody else uses. A port that
// closes waits for the requests in flight before it closes the connections: for the
// grace period of the HTTP app, or for gracePeriod if the app has none. Further calls
// do nothing.
func (t *Takeover) Close(gracePeriod time.Duration) error {
	for _, c := range t.claims {
		if c.gracePeriod > 0 {
			gracePeriod = c.gracePeriod // of the HTTP app, which all claims share
		}
	}
	t.mu.Lock()
	leases := t.leases
	t.leases = nil
	t.mu.Unlock()
	failed := make([]error, len(leases))
	var closing sync.WaitGroup
	for i, l := range leases {
		closing.Go(func() {
			l.port.gracePeriod.Store(int64(gracePeriod))
			_, failed[i] = ports.Delete(l.port.key)
		})
	}
	closing.Wait()
	return errors.Join(failed...)
}

package dial

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Patient connects over TCP to servers whose names may be looked up slowly, as where the first
// of two name servers is dead: an attempt that is given up leaves its lookup to the next one.
// Of servers that have a name in common each is as likely to be tried first. Its methods may be
// called concurrently. Close ends it.
type Patient struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	lookups map[string]*patientLookup // by host: those that no attempt has used yet
}

type patientLookup struct {
	done  chan struct{} // closed when the rest is known
	found []netip.Addr
	err   error
}

// lookupTimeout is for a lookup in the background: two name servers are asked twice for 5 s each.
const lookupTimeout = 30 * time.Second

// NewPatient returns a dialer.
func NewPatient() *Patient {
	p := &Patient{lookups: map[string]*patientLookup{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends the lookups, and waits for that.
func (p *Patient) Close() {
	p.cancel()
	p.running.Wait()
}

// Dial connects to address, a host and a port.
func (p *Patient) Dial(ctx context.Context, address string) (net.Conn, error) {
	return connect(ctx, address, p.lookup, tcp, closeTCP)
}

func (p *Patient) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	p.mu.Lock()
	l := p.lookups[host]
	if l == nil {
		l = &patientLookup{done: make(chan struct{})}
		p.lookups[host] = l
		p.running.Go(func() { // ends with Close at the latest
			defer close(l.done)
			ctx, cancel := context.WithTimeout(p.ctx, lookupTimeout)
			defer cancel()
			l.found, l.err = lookup(ctx, host)
			rand.Shuffle(len(l.found), func(i, j int) { l.found[i], l.found[j] = l.found[j], l.found[i] })
		})
	}
	p.mu.Unlock()
	select {
	case <-l.done:
	case <-ctx.Done():
		return nil, &net.DNSError{Err: "the name server does not answer in time", Name: host, IsTimeout: true}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lookups[host] == l {
		delete(p.lookups, host) // the next attempt asks for itself
	}
	return l.found, l.err
}

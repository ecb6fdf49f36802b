package takeover

import "crypto/tls"

// tickets keeps the last session ticket, and tells when there is a new one.
type tickets struct {
	tls.ClientSessionCache
	put chan struct{}
}

func newTickets() tickets {
	return tickets{tls.NewLRUClientSessionCache(1), make(chan struct{}, 8)}
}

// Put implements [tls.ClientSessionCache].
func (c tickets) Put(key string, state *tls.ClientSessionState) {
	c.ClientSessionCache.Put(key, state)
	if state != nil {
		c.put <- struct{}{}
	}
}

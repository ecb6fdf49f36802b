package client_test

import (
	"testing"
	"testing/synctest"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
)

// Whichever transport meets the certificate first.
func TestUntrustedAuthoritySaysTheRemedy(t *testing.T) {
	for _, over := range []client.Transport{client.WebTransport, client.WebSocket} {
		synctest.Test(t, func(t *testing.T) {
			edge := edgetest.New(t)
			_, err := client.Connect(t.Context(), []string{edge.URL()}, client.Options{
				Token: edge.Token(), Transports: []client.Transport{over}, FailFast: true, Network: edge.Network(edgetest.ClientAddress),
			})
			wantWords(t, err, edge.URL(), "does not trust", "Options.TLS")
		})
	}
}

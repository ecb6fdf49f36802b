package edgetest

import (
	"context"

	"github.com/millrace/millrace/client"
)

// Client connects a client to the edge; it is closed when the test ends, or before. Without
// other options it takes WebTransport, and is at [ClientAddress]. If it gets no connection,
// the test ends.
func (e *Edge) Client(token string, change ...func(*client.Options)) *client.Client {
	e.t.Helper()
	c, err := e.Connect(token, change...)
	if err != nil {
		e.t.Fatal(err)
	}
	return c
}

// Connect is [Edge.Client] for a client that may be refused: it returns the error of
// [client.Connect].
func (e *Edge) Connect(token string, change ...func(*client.Options)) (*client.Client, error) {
	e.t.Helper()
	o := client.Options{Token: token, TLS: e.TLS(), Network: e.Network(ClientAddress), FailFast: true}
	for _, f := range change {
		f(&o)
	}
	if o.TokenProvider != nil {
		o.Token = ""
	}
	c, err := client.Connect(context.Background(), []string{e.URL()}, o)
	if err != nil {
		return nil, err
	}
	e.t.Cleanup(func() { _ = c.Close() }) // always nil
	return c, nil
}

// Over has a client use one transport.
func Over(t client.Transport) func(*client.Options) {
	return func(o *client.Options) { o.Transports = []client.Transport{t} }
}

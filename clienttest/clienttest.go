// Package clienttest runs a Millrace edge inside a test of an application: in the process, without a port or a file,
// up in milliseconds. It has histories and presence for all channels, the rules and limits of a real edge, and ends
// with the test.
//
//	func TestNews(t *testing.T) {
//		edge := clienttest.Start(t)
//		reader, writer := edge.Client(), edge.Client()
//		news, err := reader.Subscribe(t.Context(), clienttest.Tenant, "news.#")
//		...
//	}
//
// Clients reach the edge by [Edge.Options], which have its network and its certificate: code that connects by itself
// takes them as a parameter. In a bubble of [testing/synctest] all waiting takes no time: an hour in which a token
// expires passes at once.
package clienttest

import (
	"context"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
)

// Tenant is that of tokens whose grants name no other.
const Tenant = edgetest.Tenant

// Edge is an edge in the process of the test. Its methods are safe for concurrent use; what fails ends the test, so
// they belong to its goroutine.
type Edge struct {
	t    testing.TB
	edge *edgetest.Edge
}

// Start starts an edge, which t.Cleanup ends, after the clients of [Edge.Client]. Other clients should be closed
// before: the edge waits for them, 10 s at most.
func Start(t testing.TB) *Edge {
	t.Helper()
	bandwidth := edgetest.Limits(func(l *pubsub.Limits) { l.DefaultIngressKB, l.DefaultEgressKB = 128, 1024 })
	return &Edge{t, edgetest.New(t, bandwidth, edgetest.History("all", history.Limits{}, "#"), edgetest.Presence("all", 0, "#"))}
}

// URL is the origin of the edge, for [client.Connect] with [Edge.Options].
func (e *Edge) URL() string { return e.edge.URL() }

// Token issues an access token for an hour. Without grants it permits everything in [Tenant]; a grant without tenants
// is for that, too. Its connections have the bandwidth of `millrace pubsub dev` and README's public edge: 128 KB/s to
// the edge, and 1,024 KB/s from it. [Edge.Admin] issues others.
func (e *Edge) Token(grants ...client.Grant) string {
	e.t.Helper()
	return e.TokenOf("", grants...)
}

// TokenOf is Token for a subject: whoever joins a channel needs one, and subscribers see it as the sender.
func (e *Edge) TokenOf(subject string, grants ...client.Grant) string {
	e.t.Helper()
	if len(grants) == 0 {
		all := []string{"#"}
		grants = []client.Grant{{Publish: all, Subscribe: all, History: all, Presence: all}}
	}
	r := client.IssueRequest{CreatedBy: "clienttest", Subject: subject, ExpiresIn: time.Hour}
	for _, g := range grants {
		if len(g.Tenants) == 0 {
			g.Tenants = []string{Tenant}
		}
		r.Grants = append(r.Grants, g)
	}
	issued, err := e.Admin().Issue(context.Background(), r)
	if err != nil {
		e.t.Fatal(err)
	}
	return issued.Token
}

// Options are those of a client that reaches the edge with a token. A test sets the others, such as OnEvent; with a
// TokenProvider it empties Token.
func (e *Edge) Options(token string) client.Options {
	e.t.Helper()
	return client.Options{
		Token: token, TLS: e.edge.TLS(), Network: e.edge.Network(edgetest.ClientAddress), FailFast: true,
		Transports: []client.Transport{client.WebSocket},
	}
}

// Client connects a client with a token of these grants (see [Edge.Token]), which is closed with the test.
func (e *Edge) Client(grants ...client.Grant) *client.Client {
	e.t.Helper()
	return e.Connect(e.Token(grants...))
}

// Connect connects a client with a token, which is closed with the test.
func (e *Edge) Connect(token string) *client.Client {
	e.t.Helper()
	c, err := client.Connect(context.Background(), []string{e.URL()}, e.Options(token))
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = c.Close() }) // always nil
	return c
}

// Admin issues and revokes tokens, as the application's backend does.
func (e *Edge) Admin() *client.TokenAdmin {
	e.t.Helper()
	return e.edge.Admin()
}

// Cut cuts the network between the edge and all clients, until heal is called: to see what an application does
// without it.
func (e *Edge) Cut() (heal func()) { return e.edge.Cut() }

package cluster

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/natstest"
)

// Edges with roles are one overlay, and what one of them may not do it cannot do
// with its credentials for NATS either.
func TestGuideRoles(t *testing.T) {
	t.Parallel()
	g := readGuide(t)
	node := g.startNode("10.0.1.1:4222", "manager-1", g.block("roles.conf"))
	node.AwaitClients(t)
	for i, role := range []string{"manager", "issuer", "reader"} {
		n := strconv.Itoa(i + 1)
		g.startEdge(g.block("reader.Caddyfile", "allow_hosts edge-2", "allow_hosts edge-"+n+".example.com edge-2",
			"role reader", "role "+role, "reader-3", role+"-"+n, "user edge-3", "user edge-"+n, "edge_name edge-3", "edge_name edge-"+n, "announce edge-3", "announce edge-"+n))
	}
	manager, issuer, reader := g.Edges[0], g.Edges[1], g.Edges[2]
	works(g.Overlay, 2)
	g.awaitListed(0, "edge-1", "edge-2", "edge-3")
	g.awaitListed(2, "edge-2", "edge-3") // the only hosts that it allows

	// A reader lists tokens, and changes none; an issuer changes no master token.
	reader.Rest("GET", "/v1/tokens", reader.Master, nil).Decode(t, http.StatusOK, new(harness.Object))
	reader.Rest("POST", "/v1/get-token", reader.Master, harness.TokenRequest(harness.AllowAll("room"))).Problem(t, http.StatusForbidden, "read_only")
	reader.Revoke(reader.Master, g.Token).Problem(t, http.StatusForbidden, "read_only")
	created := harness.Object{"name": "m", "tenant_prefix": "m"}
	for _, e := range []*harness.Edge{issuer, reader} {
		e.AdminCall("POST", "/pubsub/master-tokens", created).Problem(t, http.StatusForbidden, "read_only")
	}
	var master struct{ Token string }
	manager.AdminCall("POST", "/pubsub/master-tokens", created).Decode(t, http.StatusOK, &master)
	issuer.Poll("the new master token at the issuer", func() bool {
		return issuer.Rest("POST", "/v1/get-token", master.Token, harness.TokenRequest(harness.AllowAll("room"))).Status == http.StatusOK
	})
	g.clean()

	// The reader is taken over.
	denied := make(chan string, 10)
	for user, subjects := range map[string][]string{
		"reader-3": {"$KV.millrace_tokens.1.x", "$KV.millrace_tokens.2.x", "$JS.API.STREAM.DELETE.KV_millrace_tokens"},
		"edge-3":   {"millrace.a", "millrace.s.edge-2.a", "$KV.millrace_tokens.2.y"},
	} {
		conn, err := client.Connect(node.URL(), client.UserInfo(user, guidePassword),
			client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { denied <- err.Error() }))
		reader.Must(err)
		t.Cleanup(conn.Close)
		for _, subject := range subjects {
			reader.Must(conn.Publish(subject, []byte("{}")))
			if text := natstest.Receive(t, "a refusal of "+subject, denied); !strings.Contains(text, strconv.Quote(subject)) {
				t.Errorf("%s: %s", subject, text)
			}
		}
	}
}

package cluster

import (
	"fmt"
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
	roles := []string{"manager", "issuer", "reader"}
	node := natstest.NewNode(t, harness.NatsServer(t))
	secret := func(kind string, i int) string { return fmt.Sprintf("c0rrect-%s-%d", kind, i+1) }
	for i := range roles {
		node.Env = append(node.Env, fmt.Sprintf("EDGE_%d=%s", i+1, secret("edge", i)), fmt.Sprintf("TOKENS_%d=%s", i+1, secret("tokens", i)))
	}
	node.Login = "manager-1:" + secret("tokens", 0)
	node.Start(t, harness.Replaced(t, guide(t, "roles.conf"), "/var/lib/nats", strconv.Quote(t.TempDir()), "10.0.1.1:4222", fmt.Sprintf("127.0.0.1:%d", node.Client)))
	node.AwaitClients(t)

	o := &harness.Overlay{T: t, Nodes: []*natstest.Node{node}}
	for i, role := range roles {
		text := harness.Replaced(t, guide(t, "reader"), "nats://10.0.1.1:4222", node.URL(), "role reader", "role "+role,
			"user reader-3", fmt.Sprintf("user %s-%d", role, i+1), "_INBOX_reader-3", fmt.Sprintf("_INBOX_%s-%d", role, i+1),
			"user edge-3", fmt.Sprintf("user edge-%d", i+1), "edge_name edge-3", fmt.Sprintf("edge_name edge-%d", i+1))
		switch i {
		case 0: // has no list of hosts, and none of its own
			text = harness.Replaced(t, text, "announce edge-3.example.com", "", "allow_hosts edge-2.example.com edge-3.example.com", "")
		case 1:
			text = harness.Replaced(t, text, "announce edge-3.example.com", "announce edge-2.example.com")
		}
		startAt(o, text, harness.WithEnv("EDGE_PASSWORD="+secret("edge", i)), harness.WithEnv("TOKENS_PASSWORD="+secret("tokens", i)))
	}
	manager, issuer, reader := o.Edges[0], o.Edges[1], o.Edges[2]

	// Messages reach all, from all, and a token that is revoked ends everywhere.
	awaitToken(o, 0)
	o.Token = awaitToken(o, 1)
	o.Spread("news.#", "news.mark", 1, 1, 1)
	open, token := tokenAt(o, 1, 2)
	issuer.Revoke(issuer.Master, token).Decode(t, http.StatusOK, new(harness.Object))
	expectRevoked(open)

	// A reader lists tokens, and changes none; an issuer changes no master token.
	reader.Rest("GET", "/v1/tokens", reader.Master, nil).Decode(t, http.StatusOK, new(harness.Object))
	reader.Rest("POST", "/v1/get-token", reader.Master, harness.TokenRequest(harness.AllowAll("room"))).Problem(t, http.StatusForbidden, "read_only")
	reader.Revoke(reader.Master, o.Token).Problem(t, http.StatusForbidden, "read_only")
	created := harness.Object{"name": "m", "tenant_prefix": "m"}
	for _, e := range []*harness.Edge{issuer, reader} {
		e.AdminCall("POST", "/pubsub/master-tokens", created).Problem(t, http.StatusForbidden, "read_only")
	}
	var master struct{ Token string }
	manager.AdminCall("POST", "/pubsub/master-tokens", created).Decode(t, http.StatusOK, &master)
	issuer.Poll("the new master token at the issuer", func() bool {
		return issuer.Rest("POST", "/v1/get-token", master.Token, harness.TokenRequest(harness.AllowAll("room"))).Status == http.StatusOK
	})

	// The reader is taken over.
	denied := make(chan string, 10)
	login := func(user, password string) *client.Conn {
		t.Helper()
		conn, err := client.Connect(node.URL(), client.UserInfo(user, password), client.CustomInboxPrefix("_INBOX_"+user),
			client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { denied <- err.Error() }))
		reader.Must(err)
		t.Cleanup(conn.Close)
		return conn
	}
	tokens, messages := login("reader-3", secret("tokens", 2)), login("edge-3", secret("edge", 2))
	for subject, conn := range map[string]*client.Conn{
		"$KV.millrace_tokens.1.x": tokens, "$KV.millrace_tokens.2.x": tokens, "$JS.API.STREAM.DELETE.KV_millrace_tokens": tokens,
		"millrace.a": messages, "millrace.s.edge-2.a": messages, "$KV.millrace_tokens.2.y": messages,
	} {
		reader.Must(conn.Publish(subject, []byte("{}")))
		if text := <-denied; !strings.Contains(text, strconv.Quote(subject)) {
			t.Errorf("%s: %s", subject, text)
		}
	}
	for i, e := range o.Edges {
		lack(o, secret("edge", i))
		lack(o, secret("tokens", i))
		if strings.Contains(strings.ToLower(e.Output()), "permissions violation") {
			t.Errorf("edge %d is denied something:\n%s", i+1, e.Output())
		}
	}
}

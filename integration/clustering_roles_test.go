package integration

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// Edges with roles are one overlay, and what one of them may not do it cannot do
// with its credentials for NATS either.
func TestGuideRoles(t *testing.T) {
	t.Parallel()
	roles := []string{"manager", "issuer", "reader"}
	node := natstest.NewNode(t, natsServer(t))
	secret := func(kind string, i int) string { return fmt.Sprintf("c0rrect-%s-%d", kind, i+1) }
	for i := range roles {
		node.Env = append(node.Env, fmt.Sprintf("EDGE_%d=%s", i+1, secret("edge", i)), fmt.Sprintf("TOKENS_%d=%s", i+1, secret("tokens", i)))
	}
	node.Login = "manager-1:" + secret("tokens", 0)
	node.Start(t, replaced(t, guide(t, "roles.conf"), "/var/lib/nats", strconv.Quote(t.TempDir()), "10.0.1.1:4222", fmt.Sprintf("127.0.0.1:%d", node.Client)))
	node.AwaitClients(t)

	o := &overlay{t: t, nodes: []*natstest.Node{node}}
	for i, role := range roles {
		text := replaced(t, guide(t, "reader"), "nats://10.0.1.1:4222", node.URL(), "role reader", "role "+role,
			"user reader-3", fmt.Sprintf("user %s-%d", role, i+1), "_INBOX_reader-3", fmt.Sprintf("_INBOX_%s-%d", role, i+1),
			"user edge-3", fmt.Sprintf("user edge-%d", i+1), "edge_name edge-3", fmt.Sprintf("edge_name edge-%d", i+1))
		switch i {
		case 0: // has no list of hosts, and none of its own
			text = replaced(t, text, "announce edge-3.example.com", "", "allow_hosts edge-2.example.com edge-3.example.com", "")
		case 1:
			text = replaced(t, text, "announce edge-3.example.com", "announce edge-2.example.com")
		}
		o.startAt(text, withEnv("EDGE_PASSWORD="+secret("edge", i)), withEnv("TOKENS_PASSWORD="+secret("tokens", i)))
	}
	manager, issuer, reader := o.edges[0], o.edges[1], o.edges[2]

	// Messages reach all, from all, and a token that is revoked ends everywhere.
	o.awaitToken(0)
	o.token = o.awaitToken(1)
	sessions := o.spread("news.#", "news.mark", 1, 1, 1)
	for at := range o.edges {
		text := "from " + strconv.Itoa(at)
		o.session(at).publish("paint.room", "news.today", text)
		for _, list := range sessions {
			list[0].expectDeliver("paint.room", "news.today", text, "news.#")
		}
	}
	one := *o
	one.token = o.awaitToken(1)
	open := one.session(2)
	issuer.revoke(issuer.master, one.token).decode(t, http.StatusOK, new(object))
	open.expectText("ERR:" + string(wire.CodeTokenRevoked))
	open.expectClose(wire.CloseForbidden)

	// A reader lists tokens, and changes none; an issuer changes no master token.
	reader.rest("GET", "/v1/tokens", reader.master, nil).decode(t, http.StatusOK, new(object))
	reader.rest("POST", "/v1/get-token", reader.master, tokenRequest(allowAll("room"))).problem(t, http.StatusForbidden, "read_only")
	reader.revoke(reader.master, o.token).problem(t, http.StatusForbidden, "read_only")
	created := object{"name": "m", "tenant_prefix": "m"}
	for _, e := range []*edge{issuer, reader} {
		e.adminCall("POST", "/pubsub/master-tokens", created).problem(t, http.StatusForbidden, "read_only")
	}
	var master struct{ Token string }
	manager.adminCall("POST", "/pubsub/master-tokens", created).decode(t, http.StatusOK, &master)
	issuer.poll("the new master token at the issuer", func() bool {
		return issuer.rest("POST", "/v1/get-token", master.Token, tokenRequest(allowAll("room"))).Status == http.StatusOK
	})

	// The reader is taken over.
	denied := make(chan string, 10)
	login := func(user, password string) *client.Conn {
		t.Helper()
		conn, err := client.Connect(node.URL(), client.UserInfo(user, password), client.CustomInboxPrefix("_INBOX_"+user),
			client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { denied <- err.Error() }))
		reader.must(err)
		t.Cleanup(conn.Close)
		return conn
	}
	tokens, messages := login("reader-3", secret("tokens", 2)), login("edge-3", secret("edge", 2))
	for subject, conn := range map[string]*client.Conn{
		"$KV.millrace_tokens.1.x": tokens, "$KV.millrace_tokens.2.x": tokens, "$JS.API.STREAM.DELETE.KV_millrace_tokens": tokens,
		"millrace.a": messages, "millrace.s.edge-2.a": messages, "$KV.millrace_tokens.2.y": messages,
	} {
		reader.must(conn.Publish(subject, []byte("{}")))
		if text := <-denied; !strings.Contains(text, strconv.Quote(subject)) {
			t.Errorf("%s: %s", subject, text)
		}
	}
	list := func(at int, want ...string) {
		t.Helper()
		o.edges[at].poll(fmt.Sprintf("its list to have %v", want), func() bool {
			var hosts []string
			for _, e := range o.listed(at) {
				hosts = append(hosts, e.Host)
			}
			return slices.Equal(hosts, want)
		})
	}
	list(1, "edge-2.example.com", "edge-3.example.com")
	announcement := fmt.Sprintf(`{"v":1,"id":"%08x00000001","host":"evil.example.net","state":"here"}`, crc32.ChecksumIEEE([]byte("edge-3")))
	reader.must(messages.Publish("millrace.s.edge-3.a", []byte(announcement)))
	list(0, "edge-2.example.com", "edge-3.example.com", "evil.example.net")
	list(1, "edge-2.example.com", "edge-3.example.com")
	list(2, "edge-2.example.com", "edge-3.example.com")
	for i, e := range o.edges {
		e.lacks(secret("edge", i))
		e.lacks(secret("tokens", i))
		if strings.Contains(strings.ToLower(e.output()), "permissions violation") {
			t.Errorf("edge %d is denied something:\n%s", i+1, e.output())
		}
	}
}

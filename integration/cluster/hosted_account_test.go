package cluster

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// hosted starts a NATS server with an account that requires a size for each stream.
func hosted(t *testing.T) *natstest.Node {
	t.Helper()
	node := natstest.NewNode(t, harness.NatsServer(t))
	node.Login, node.Env = "edge:c0rrect-horse", []string{"NATS_PASSWORD=c0rrect-horse"}
	node.Start(t, fmt.Sprintf(`
listen: 127.0.0.1:%d
jetstream { store_dir: %s }
accounts {
	HOSTED {
		jetstream { max_mem: 8MB, max_file: 128MB, max_bytes_required: true }
		users: [{ user: edge, password: $NATS_PASSWORD }]
	}
}
`, node.Client, strconv.Quote(t.TempDir())))
	node.Await(t)
	return node
}

// An account that requires a size for each stream: the edge says at once that it has no
// tokens, and names the option; with it, a reload is enough.
func TestHostedAccount(t *testing.T) {
	t.Parallel()
	node := hosted(t)
	caddyfile := func(option string) string {
		return harness.Replaced(t, harness.DefaultCaddyfile, harness.PubsubStore, fmt.Sprintf(
			"\n\t\ttoken_store nats nats://127.0.0.1:%d {\n\t\t\tuser edge\n\t\t\tpassword {env.NATS_PASSWORD}\n\t\t\t%s\n\t\t}\n\t\tlimits {\n\t\t\tmax_tokens_per_master 100\n\t\t}\n",
			node.Client, option))
	}
	e := harness.StartEdge(t, caddyfile(""), harness.WithEnv("NATS_PASSWORD=c0rrect-horse"))
	e.Poll("the log to name the option", func() bool {
		return strings.Contains(e.Output(), "set max_bytes of token_store nats")
	})
	began := time.Now()
	e.Rest("POST", "/v1/get-token", e.Master, harness.TokenRequest(harness.AllowAll("room"))).Problem(t, http.StatusServiceUnavailable, "unavailable")
	_, refused := e.Open(harness.Handshake{Token: "AT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)})
	refused.Problem(t, http.StatusServiceUnavailable, "unavailable")
	if took := time.Since(began); took > 4*time.Second { // a store that is out of reach takes 5 s for each
		t.Errorf("the answers took %v", took)
	}

	e.Reload(caddyfile("max_bytes 64MiB"))
	o := &harness.Overlay{T: t, Edges: []*harness.Edge{e}}
	works(o)
}

// A history has a size, so such an account takes it. One that it has no room for is out of
// reach, and the log says why, until a reload gives it a size that fits.
func TestHostedHistories(t *testing.T) {
	t.Parallel()
	node := hosted(t)
	caddyfile := func(size string) string {
		return harness.Replaced(t, history.Caddyfile("nats", "size "+size), "broker {{.Broker}}\n", fmt.Sprintf(
			"broker nats nats://127.0.0.1:%d {\n\t\t\tuser edge\n\t\t\tpassword {env.NATS_PASSWORD}\n\t\t}\n", node.Client),
			"token_store {{.Store}}", "token_store nats {\n\t\t\tmax_bytes 16MiB\n\t\t}")
	}
	e := harness.StartEdge(t, caddyfile("1GiB"), harness.WithEnv("NATS_PASSWORD=c0rrect-horse"))
	o := &harness.Overlay{T: t, Edges: []*harness.Edge{e}}
	awaitToken(o, 0)
	o.Token = e.Issue(history.AllowHistory("a", "b")).Token
	s := o.Session(0)
	s.SendFrame(history.Confirmed(1, history.KeptTenant, "chat.1", "no room"))
	if line := history.NextLine(s); line.Kind != wire.KindErr || line.Code != wire.CodeHistoryUnavailable {
		t.Errorf("a history without room: got %+v", line)
	}
	e.Poll("the log to say why", func() bool {
		return history.HasWarned(e, "history chat", "insufficient storage resources")
	})
	e.Reload(caddyfile("64MiB"))
	history.AwaitHistory(o, 0)
	history.Store(s, "chat.1", "1")
	history.Resume(s, "chat.1", "last").Has(t, true, "chat.1=1")
	lacks(e, "c0rrect-horse")
}

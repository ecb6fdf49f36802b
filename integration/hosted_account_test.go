package integration

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// hosted starts a NATS server with an account that requires a size for each stream.
func hosted(t *testing.T) *natstest.Node {
	t.Helper()
	node := natstest.NewNode(t, natsServer(t))
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
		return replaced(t, defaultCaddyfile, pubsubStore, fmt.Sprintf(
			"\n\t\ttoken_store nats nats://127.0.0.1:%d {\n\t\t\tuser edge\n\t\t\tpassword {env.NATS_PASSWORD}\n\t\t\t%s\n\t\t}\n\t\tlimits {\n\t\t\tmax_tokens_per_master 100\n\t\t}\n",
			node.Client, option))
	}
	e := startEdge(t, caddyfile(""), withEnv("NATS_PASSWORD=c0rrect-horse"))
	e.poll("the log to name the option", func() bool {
		return strings.Contains(e.output(), "set max_bytes of token_store nats")
	})
	began := time.Now()
	e.rest("POST", "/v1/get-token", e.master, tokenRequest(allowAll("room"))).problem(t, http.StatusServiceUnavailable, "unavailable")
	_, refused := e.open(handshake{Token: "AT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)})
	refused.problem(t, http.StatusServiceUnavailable, "unavailable")
	if took := time.Since(began); took > 4*time.Second { // a store that is out of reach takes 5 s for each
		t.Errorf("the answers took %v", took)
	}

	e.reload(caddyfile("max_bytes 64MiB"))
	o := &overlay{t: t, edges: []*edge{e}}
	o.works()
}

// A history has a size, so such an account takes it. One that it has no room for is out of
// reach, and the log says why, until a reload gives it a size that fits.
func TestHostedHistories(t *testing.T) {
	t.Parallel()
	node := hosted(t)
	caddyfile := func(size string) string {
		return replaced(t, historyCaddyfile("nats", "size "+size), "broker {{.Broker}}\n", fmt.Sprintf(
			"broker nats nats://127.0.0.1:%d {\n\t\t\tuser edge\n\t\t\tpassword {env.NATS_PASSWORD}\n\t\t}\n", node.Client),
			"token_store {{.Store}}", "token_store nats {\n\t\t\tmax_bytes 16MiB\n\t\t}")
	}
	e := startEdge(t, caddyfile("1GiB"), withEnv("NATS_PASSWORD=c0rrect-horse"))
	o := &overlay{t: t, edges: []*edge{e}}
	o.awaitToken(0)
	o.token = e.issue(allowHistory("a", "b")).Token
	s := o.session(0)
	s.sendFrame(confirmed(1, keptTenant, "chat.1", "no room"))
	if line := s.nextLine(); line.Kind != wire.KindErr || line.Code != wire.CodeHistoryUnavailable {
		t.Errorf("a history without room: got %+v", line)
	}
	e.poll("the log to say why", func() bool {
		return e.hasWarned("history chat", "insufficient storage resources")
	})
	e.reload(caddyfile("64MiB"))
	o.awaitHistory(0)
	s.store("chat.1", "1")
	s.resume("chat.1", "last").has(t, true, "chat.1=1")
	e.lacks("c0rrect-horse")
}

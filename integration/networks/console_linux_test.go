package networks

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/netlab"
)

// consoleCaddyfile has a console over plain HTTP, for any host.
const consoleCaddyfile = `{
	admin off
	auto_https off
	pubsub {
		token_store badger {$HOME}/tokens
	}
}
http://:8080 {
	pubsub
	pubsub_ready
	pubsub_console {
		operator ada ` + harness.AdaHash + ` manager
	}
}
`

// Over plain HTTP, another machine gets neither the console nor an answer to a password,
// whatever name it calls the edge by. The edge's own machine does.
func TestConsoleFromOutside(t *testing.T) {
	t.Parallel()
	n := startNetwork(t, 2)
	e := startEdge(t, n.Machine(1), consoleCaddyfile)
	curl := func(from netlab.Machine, args ...string) string {
		out, err := from.Command("curl", append([]string{"-s", "--max-time", "100", "--noproxy", "*"}, args...)...).Output()
		if err != nil {
			t.Errorf("curl %q: %v", args, err)
		}
		return string(out)
	}
	const local, api = "Host: localhost:8080", "/console/api/session"
	login := []string{"-H", local, "-H", "Origin: http://localhost:8080", "-H", "Content-Type: application/json", "-d", `{"name":"ada","password":"` + harness.AdaPassword + `"}`}
	url := e.plain() + "/console"
	for _, args := range [][]string{
		{url},
		{url, "-H", local, "-H", "X-Forwarded-Proto: https", "-H", "X-Forwarded-For: 127.0.0.1"},
		append([]string{e.plain() + api}, login...),
	} {
		if answer := curl(n.Machine(2), args...); !strings.Contains(answer, `"status":403`) || !strings.Contains(answer, `"code":"tls_required"`) {
			t.Errorf("%q: %s", args, answer)
		}
	}
	if answer := curl(e.Machine, append([]string{"http://localhost:8080" + api}, login...)...); !strings.Contains(answer, `"signed_in":true`) {
		t.Errorf("on the edge's own machine: %s", answer)
	}
}

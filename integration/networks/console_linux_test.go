package networks

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/millrace/millrace/internal/netlab"
)

// consolePassword is that of ada.
const consolePassword = "correct horse 1"

// consoleCaddyfile has a console over plain HTTP, for any host.
const consoleCaddyfile = `{
	admin off
	auto_https off
	pubsub {
		token_store badger %[1]s/tokens
	}
}
http://:8080 {
	pubsub
	pubsub_ready
	pubsub_console {
		operator ada $argon2id$v=19$m=7168,t=1,p=1$NYXBFFMzzefnvA3loiddsg$TO1GTXy6uCCDuBGHP11dU4GkAFdlBq0tNFEk1tq1a4c manager
	}
}
`

// Over plain HTTP, another machine gets neither the console nor an answer to a password,
// whatever name it calls the edge by. The edge's own machine does.
func TestConsoleFromOutside(t *testing.T) {
	if whyNot != nil {
		t.Skipf("no network namespaces here: %v", whyNot)
	}
	n, err := netlab.New(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	e := &edge{t: t, machine: n.Machine(1), dir: t.TempDir()}
	if err := os.WriteFile(e.file(), fmt.Appendf(nil, consoleCaddyfile, e.dir), 0o600); err != nil {
		t.Fatal(err)
	}
	e.start()
	t.Cleanup(e.kill)
	e.awaitReady()

	curl := func(from netlab.Machine, args ...string) string {
		t.Helper()
		out, err := from.Command("curl", append([]string{"-s", "--max-time", "10", "--noproxy", "*"}, args...)...).Output()
		if err != nil {
			t.Errorf("curl %q: %v", args, err)
		}
		return string(out)
	}
	const local = "localhost:8080"
	login := []string{
		"-H", "Host: " + local, "-H", "Origin: http://" + local, "-H", "Content-Type: application/json",
		"-d", fmt.Sprintf(`{"name":"ada","password":%q}`, consolePassword),
	}
	url := "http://" + e.machine.IP + ":8080/console"
	for _, args := range [][]string{
		{url},
		{url, "-H", "Host: " + local},
		{url, "-H", "Host: " + local, "-H", "X-Forwarded-Proto: https", "-H", "X-Forwarded-For: 127.0.0.1"},
		append([]string{url + "/api/session"}, login...),
	} {
		var p struct {
			Status int
			Code   string
		}
		if err := json.Unmarshal([]byte(curl(n.Machine(2), args...)), &p); err != nil || p.Status != 403 || p.Code != "tls_required" {
			t.Errorf("%q: %+v %v", args[1:], p, err)
		}
	}
	var session struct {
		SignedIn bool `json:"signed_in"`
	}
	answer := curl(e.machine, append([]string{"http://" + local + "/console/api/session"}, login...)...)
	if err := json.Unmarshal([]byte(answer), &session); err != nil || !session.SignedIn {
		t.Errorf("on the edge's own machine: %s", answer)
	}
}

package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/natstest"
)

// An edge whose NATS refuses its password says so from the start on, for each of its
// connections: in the log, in readiness, and to operators; and nowhere the password. When NATS
// takes it, all is well without a restart, until NATS is gone.
func TestTroublesAreSaid(t *testing.T) {
	t.Parallel()
	node := natstest.NewNode(t, harness.NatsServer(t))
	config := func(password string) string {
		return fmt.Sprintf("listen: 127.0.0.1:%d\njetstream { store_dir: %q }\nauthorization { user: edge, password: %q }\n", node.Client, t.TempDir(), password)
	}
	node.Start(t, config("another"))
	caddyfile := strings.NewReplacer("\tpubsub\n", "\tpubsub\n\tpubsub_ready\n",
		"drain 7s", "drain 7s\n\t\thistory chat {\n\t\t\tchannels chat.#\n\t\t}\n\t\thistory_store nats").Replace(harness.DefaultCaddyfile)
	e := harness.StartEdge(t, caddyfile, harness.WithEnv("NATS_PASSWORD="+guidePassword), func(e *harness.Edge) {
		e.Broker, e.Store = fmt.Sprintf("nats nats://127.0.0.1:%d {\nuser edge\npassword {env.NATS_PASSWORD}\n}", node.Client), "nats"
	})
	said := func(code, reason string) {
		t.Helper()
		text := ""
		for _, of := range []string{"broker", "tokens", "history"} {
			e.Poll("the trouble of "+of, func() bool {
				text = e.AdminCLI("edges").Want(0, "", "").Out
				return strings.Contains(text, of+": "+code)
			})
		}
		for _, logger := range []string{"broker", "store", "history"} {
			e.AwaitLine(`"logger":"pubsub.`+logger+`"`, `"code":"`+code+`"`)
		}
		e.Poll("readiness to say so", func() bool {
			a := e.Rest("GET", "/ready", "", nil)
			return a.Status == http.StatusServiceUnavailable && strings.Contains(string(a.Body), "the link to the other edges is down: "+reason)
		})
		if text += e.Output() + string(e.Rest("GET", "/ready", "", nil).Body); strings.Contains(text, guidePassword) {
			t.Errorf("this has the password:\n%s", text)
		}
	}
	said("login_refused", "NATS refuses the login")
	node.Kill(t)
	said("connection_refused", "no NATS server listens")
	node.Start(t, config(guidePassword))
	e.Poll("readiness", func() bool { return string(e.Rest("GET", "/ready", "", nil).Body) == "ready" })
	if text := e.AdminCLI("edges").Want(0, "", "").Out; strings.Contains(text, "broker:") {
		t.Errorf("the edge is ready, and lists\n%s", text)
	}
	for _, logger := range []string{"broker", "store", "history"} {
		e.AwaitLine(`"logger":"pubsub.`+logger+`"`, "connected to NATS again")
	}
}

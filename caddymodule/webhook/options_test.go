package webhook

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func TestOptions(t *testing.T) {
	t.Setenv("TEST_WEBHOOK_SECRET", secret)
	t.Setenv("TEST_WEBHOOK_SHORT", "short")
	t.Setenv("TEST_WEBHOOK_BASE64", "whsec_!")
	const good = "secret {env.TEST_WEBHOOK_SECRET}"
	for _, c := range []struct{ url, options, want string }{
		{"https://a.example/x", good, ""},
		{"https://a.example/x", good + "\nevents connect disconnect\nbatch_size 1\nbatch_delay 1s\nqueue 1\ntimeout 1s\nretry_for 1m\nask connect subscribe {\non_silence allow\ntimeout 1s\nmax_in_flight 1\n}", ""},
		{"https://a.example/x", good + "\nevents none\nask connect {\non_silence refuse\n}", ""},
		{"http://a.example/x", good, "url: must be an https URL"},
		{"https://user:pass@a.example/x", good, "url: must hold no user"},
		{"https://a.example/x", "", "secret: must be a placeholder"},
		{"https://a.example/x", "secret {env.TEST_WEBHOOK_SHORT}", "secret: must have from 16 to 256 bytes"},
		{"https://a.example/x", "secret {env.TEST_WEBHOOK_BASE64}", "secret: behind whsec_ must stand base64"},
		{"https://a.example/x", "secret {env.TEST_WEBHOOK_NONE}", "secret: {env.TEST_WEBHOOK_NONE}: the environment variable is empty or not set"},
		{"https://a.example/x", "secret plain-secret-of-some-length", "secret: must be a placeholder"},
		{"https://a.example/x", good + "\nevents publish", "events: unknown event publish; allowed: connect, disconnect, subscribe, unsubscribe, join, leave, or none alone"},
		{"https://a.example/x", good + "\nevents none", "does nothing"},
		{"https://a.example/x", good + "\nbatch_size 1001", "batch_size: must be from 1 to 1000"},
		{"https://a.example/x", good + "\nqueue 1000001", "queue: must be from 1 to 1000000"},
		{"https://a.example/x", good + "\ntimeout 2m", "timeout: must be from 100ms to 1m0s"},
		{"https://a.example/x", good + "\nretry_for 1ms", "retry_for: must be from 1s to 24h0m0s"},
		{"https://a.example/x", good + "\nbatch_delay 1h", "batch_delay: must be from 1ms to 1m0s"},
		{"https://a.example/x", good + "\nca /nowhere/ca.pem", "ca: open /nowhere/ca.pem"},
		{"https://a.example/x", good + "\nask connect", "ask: on_silence: must be allow or refuse"},
		{"https://a.example/x", good + "\nask publish {\non_silence allow\n}", "ask: before: must be connect, subscribe, or both, not publish"},
		{"https://a.example/x", good + "\nask connect {\non_silence allow\ntimeout 5s\n}", "ask: timeout: must be from 10ms to 4s"},
		{"https://a.example/x", good + "\nask connect {\non_silence allow\nmax_in_flight 10001\n}", "ask: max_in_flight: must be from 1 to 10000"},
		{"https://a.example/x", good + "\ncolour blue", "unknown option colour of hook webhook; allowed: secret, events, batch_size, batch_delay, queue, timeout, retry_for, ca, ask"},
		{"https://a.example/x", good + "\nask connect {\ncolour blue\n}", "unknown option colour of ask; allowed: on_silence, timeout, max_in_flight"},
		{"https://a.example/x", good + "\n" + good, "secret is given twice"},
	} {
		h := new(Webhook)
		err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("webhook " + c.url + " {\n" + c.options + "\n}"))
		if err == nil {
			_, err = h.options()
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s %s: %v", c.url, c.options, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: got %v, want %s", c.url, c.options, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "plain-secret") {
			t.Errorf("the error repeats a secret: %v", err)
		}
	}
}

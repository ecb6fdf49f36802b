// Package console tests the console of the built binary: its page in Chromium, and its API.
package console

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// consoleCaddyfile has a console, the history chat and the presence rooms.
var consoleCaddyfile = strings.Replace(harness.ConsoleCaddyfile, "hook audit {", `history chat {
			channels chat.#
			messages 1000
		}
		presence rooms {
			channels room.#
		}
		hook audit {`, 1)

// visit returns a client that is there until the test ends.
func visit(e *harness.Edge, token string) *client.Client {
	e.T.Helper()
	options := client.Options{Token: token, Transports: []client.Transport{client.WebSocket}}
	c, err := client.Connect(e.T.Context(), []string{e.HttpURL("")}, options)
	e.Must(err)
	e.T.Cleanup(func() { _ = c.Close() })
	return c
}

// keep publishes messages to a history, and awaits that they are stored.
func keep(e *harness.Edge, c *client.Client, tenant, channel string, payloads ...string) {
	e.T.Helper()
	for _, payload := range payloads {
		_, err := c.PublishConfirmed(e.T.Context(), tenant, channel, []byte(payload))
		e.Must(err)
	}
}

// join makes a subject a member of a channel.
func join(e *harness.Edge, subject, tenant, channel string) {
	e.T.Helper()
	_, err := visit(e, e.SubjectToken(subject, "", tenant)).Join(e.T.Context(), tenant, channel)
	e.Must(err)
}

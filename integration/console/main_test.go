// Package console tests the console of the built binary: its page in Chromium, and its API.
package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestMain(m *testing.M) { harness.Main(m) }

// consoleCaddyfile has a console, the history chat, one that nobody publishes to, and the
// presence rooms.
var consoleCaddyfile = strings.Replace(harness.ConsoleCaddyfile, "hook audit {", `history chat {
			channels chat.#
			messages 1000
		}
		history quiet {
			channels quiet.#
		}
		presence rooms {
			channels room.#
		}
		hook audit {`, 1)

// keep publishes messages to a history, and awaits that they are stored.
func keep(s *harness.Socket, tenant, channel string, payloads ...string) {
	s.T.Helper()
	for i, payload := range payloads {
		s.SendFrame(wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: uint32(i), Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
		}))
		if kind, line, err := s.Read(); err != nil || kind != harness.AsText || !strings.HasPrefix(string(line), fmt.Sprintf("OK:PUB:%d:", i)) {
			s.T.Fatalf("got %q, %v", line, err)
		}
	}
}

// join makes a subject a member of channels of a tenant, as long as its connection is open.
func join(e *harness.Edge, subject, tenant string, channels ...string) *harness.Socket {
	e.T.Helper()
	s := e.Dial(e.IssueAs(e.Master, harness.SubjectRequest(subject, harness.AllowAll(strings.TrimPrefix(tenant, "paint.")))).Token)
	for _, channel := range channels {
		s.SendLine("JOIN:" + tenant + ":" + channel)
		s.ExpectText("OK:JOIN:" + tenant + ":" + channel)
	}
	return s
}

// listed are the connections of the edge, oldest first, as the admin API lists them.
func listed(e *harness.Edge) []pubsub.Stat {
	e.T.Helper()
	var answer struct{ Connections []pubsub.Stat }
	e.Do(harness.Call{Method: "GET", URL: e.AdminURL("/pubsub/connections")}).Decode(e.T, http.StatusOK, &answer)
	return answer.Connections
}

// wantLine requires that the edge writes a line with all of these.
func wantLine(e *harness.Edge, all ...string) {
	e.T.Helper()
	e.Poll(fmt.Sprintf("a line with %q", all), func() bool {
		return slices.ContainsFunc(strings.Split(e.Output(), "\n"), func(line string) bool {
			return !slices.ContainsFunc(all, func(part string) bool { return !strings.Contains(line, part) })
		})
	})
}

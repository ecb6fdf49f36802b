package sdks

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m, useClient)) }

// A scenario is what docs/reference says of clients of every kind.
type scenario struct {
	name    string
	browser bool   // a browser has something of its own to show
	only    string // a transport; empty: both
	needs   string // features, as clientdriver names them
	play    func(*stage)
}

var scenarios = []scenario{
	{name: "connect", browser: true, play: connects},
	{name: "messages", browser: true, play: messages},
	{name: "local queues", needs: "queues", play: localQueues},
	{name: "work queues", needs: "work-queues", play: workQueues},
	{name: "forbidden channels", play: forbidden},
	{name: "histories", needs: "histories reconnect", play: histories},
	{name: "senders", needs: "senders histories", play: senders},
	{name: "presence", needs: "presence", play: presence},

	{name: "bad token", browser: true, play: badToken},
	{name: "revocation", play: revocation},
	{name: "token provider", needs: "token-provider moves", play: provider},
	{name: "renewing the token now", needs: "token-provider renew-token moves", play: renewsNow},
	{name: "relative expiry", needs: "token-provider expires-in moves", play: expiresIn},
	{name: "stale token", needs: "token-provider reconnect", play: staleToken},
	{name: "logged out", needs: "token-provider logged-out", play: loggedOut},
	{name: "token admin", browser: true, only: "websocket", needs: "token-admin", play: tokenAdmin},

	{name: "list of edges", needs: "edge-lists", play: listOfEdges},
	{name: "UDP blocked", browser: true, only: "websocket", needs: "fallback", play: withoutUDP},
	{name: "drain by SIGTERM", needs: "moves several-edges", play: drains},
	{name: "retry", only: "websocket", needs: "reconnect retry", play: retries},
	{name: "told when to try again", only: "websocket", needs: "reconnect retry-after", play: retriesAfter},
	{name: "an edge that loses the others", needs: "links several-edges", play: losesOthers},
	{name: "kill", needs: "reconnect several-edges", play: killed},
	{name: "kill of the only edge", needs: "reconnect", play: killedAlone},

	{name: "a path that dies under traffic", needs: "suspicion several-edges", play: pathDies},
	{name: "a path that dies under a publisher", needs: "suspicion several-edges", play: publishesAlone},
	{name: "UDP dies", browser: true, only: "webtransport", needs: "suspicion fallback", play: udpDies},
}

// Each scenario plays once in each SDK, with the transports in turns; in a soak, and for the
// client of MILLRACE_CLIENT, over all of them.
func TestSDKs(t *testing.T) {
	t.Parallel()
	play(t, sdk.Kinds, func(k sdk.Kind, _ scenario) bool { return !k.InBrowser() })
}

// What only a browser can show; in a soak all of TestSDKs.
func TestSDKsInBrowsers(t *testing.T) {
	t.Parallel()
	play(t, sdk.Kinds, func(k sdk.Kind, row scenario) bool { return k.InBrowser() && (row.browser || harness.Soaking) })
}

// The SDK for TypeScript in Deno and in Bun; a soak plays all scenarios over WebSocket.
func TestSDKRuntimes(t *testing.T) {
	t.Parallel()
	play(t, sdk.Runtimes, func(_ sdk.Kind, row scenario) bool {
		return slices.Contains([]string{"connect", "messages"}, row.name) || harness.Soaking && row.name != "UDP blocked"
	})
}

// stage is where a scenario plays.
type stage struct{ *sdk.Stage }

// play plays scenarios for clients of these kinds. An SDK with both transports uses one of them, in
// turns.
func play(t *testing.T, kinds []sdk.Kind, plays func(sdk.Kind, scenario) bool) {
	t.Helper()
	shared := harness.StartEdge(t, sharedCaddyfile, harness.ForBrowsers) // scenarios do nothing to it
	l := &sdk.Lab{T: t, Roots: []*harness.Edge{shared}}
	all := harness.Soaking || sdk.Programs[history.ClientName] != nil
	for at, row := range scenarios {
		kinds := slices.DeleteFunc(slices.Clone(kinds), func(k sdk.Kind) bool {
			only, turn := row.only, []string{"websocket", "webtransport"}[(at+int(k.Where[0]))%2]
			if only == "" && !all && k.AlsoOver(turn) {
				only = turn
			}
			return only != "" && k.Transport != only || !plays(k, row)
		})
		if len(kinds) == 0 {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			lacking := slices.DeleteFunc(strings.Fields(row.needs), func(feature string) bool { return !history.SdkLacks(feature) })
			if len(lacking) > 0 { // ours lack nothing
				t.Skip("not supported: " + strings.Join(lacking, ", "))
			}
			for _, kind := range kinds {
				t.Run(kind.String(), func(t *testing.T) {
					t.Parallel()
					row.play(&stage{l.Stage(t, kind, shared)})
				})
			}
		})
	}
}

// with is a stage for the same kind at other edges.
func (s *stage) with(edges ...*harness.Edge) *stage {
	return &stage{s.Lab.Stage(s.T, s.Kind, edges...)}
}

// poll awaits what sends no event; the last of the edges lives meanwhile.
func (s *stage) poll(what string, ready func() bool) {
	s.T.Helper()
	s.Edges[len(s.Edges)-1].Poll(what, ready)
}

// told requires an event that names this reason, edge and transport, while something is done.
func (s *stage) told(c *sdk.Client, event, reason, edge, transport string, meanwhile func()) {
	s.T.Helper()
	s.poll(event, func() bool { meanwhile(); return c.Count(event) > 0 })
	if e := c.Event(event); e.Reason != reason || e.Edge != edge || e.Transport != transport {
		s.T.Errorf("%s: got %v, want %s with %q, %s and %s", c.Kind, e, event, reason, edge, transport)
	}
}

// sharedCaddyfile is an edge with a history, a list of edges, and presence in which members
// linger longer than any test waits: who is seen to leave has said so.
var sharedCaddyfile = strings.NewReplacer(
	"allow_ip_masks 127.0.0.0/8", "allow_ip_masks 127.0.0.0/8 ::1/128", // Bun takes ::1 for localhost
	"drain ", "presence rooms {\n\t\t\tchannels room.#\n\t\t\tlinger 10m\n\t\t}\n\t\tdrain ",
	"\trespond \"no such page\" 404\n", "\tpubsub_edges /near {\n\t\tedge localhost:{{.HTTPS}} EU\n\t}\n\trespond \"no such page\" 404\n",
).Replace(history.Caddyfile("memory"))

package sdks

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
)

func TestMain(m *testing.M) {
	code := harness.Run(m, useClient)
	if !clientOutcomes.print() && strings.Contains(flag.Lookup("test.run").Value.String(), "TestSDKs") {
		fmt.Fprintln(os.Stderr, "no scenario has this name")
		code = 1
	}
	os.Exit(code)
}

// A scenario is what docs/clients.md says of clients of every kind.
type scenario struct {
	name      string
	browser   bool   // a browser has something of its own to show
	caddyfile string // of the scenario's own edge; empty: the shared one
	hooked    bool   // it plays at the edge with hooks
	only      string // a transport; empty: both
	needs     []string

	each func(*stage) // plays for each kind
	all  func(*stage) // plays for all kinds together, which stage.kinds names
}

func needs(features ...string) []string { return features } // of clientdriver.Features

var scenarios = []scenario{
	{name: "connect", browser: true, each: connects},
	{name: "messages", each: messages},
	{name: "payloads", browser: true, each: payloads},
	{name: "deliver to one", each: deliversToOne},
	{name: "local queues", needs: needs("queues"), each: localQueues},
	{name: "slow consumer", caddyfile: conformance.SlowCaddyfile("drop"), each: slowConsumer},
	{name: "forbidden channels", each: forbidden},
	{name: "histories", needs: needs("histories", "reconnect"), each: histories},
	{name: "senders", needs: needs("senders", "histories"), each: senders},
	{name: "presence", needs: needs("presence"), each: presence},

	{name: "bad token", browser: true, each: badToken},
	{name: "revocation", each: revocation},
	{name: "expiry", each: expiry},
	{name: "token provider", needs: needs("token-provider", "moves"), each: provider},
	{name: "renewing the token now", needs: needs("token-provider", "renew-token", "moves"), each: renewsNow},
	{name: "relative expiry", needs: needs("token-provider", "expires-in", "moves"), each: expiresIn},
	{name: "logged out", needs: needs("token-provider", "logged-out"), each: loggedOut},
	{name: "hooks", browser: true, hooked: true, each: hooks},
	{name: "retry", hooked: true, needs: needs("reconnect", "retry"), each: retries},
	{name: "told when to try again", hooked: true, needs: needs("reconnect", "retry-after"), each: retriesAfter},
	{name: "token admin", browser: true, only: "websocket", needs: needs("token-admin"), each: tokenAdmin},

	{name: "plaintext", each: plaintext},
	{name: "list of edges", needs: needs("edge-lists"), each: listOfEdges},
	{name: "nearest edge", browser: true, needs: needs("several-edges"), each: nearest},
	{name: "other protocol", browser: true, needs: needs("fallback"), each: otherProtocol},
	{name: "forced transport", caddyfile: offCaddyfile, each: forced},
	{name: "webtransport off", browser: true, caddyfile: offCaddyfile, only: "websocket", needs: needs("fallback"), each: fallsBack},
	{name: "stalled handshake", browser: true, only: "webtransport", each: stalledHandshake},
	{name: "UDP blocked", browser: true, only: "websocket", needs: needs("fallback"), each: withoutUDP},

	{name: "drain by SIGTERM", needs: needs("moves", "several-edges"), all: drains},
	{name: "drain behind a late link", needs: needs("moves", "several-edges"), all: drainsLate},
	{name: "drain of the only edge", needs: needs("moves", "reconnect"), all: drainsAlone},
	{name: "drain with members", needs: needs("presence", "moves", "several-edges"), all: drainsMembers},
	{name: "other region", needs: needs("several-edges"), all: otherRegion},
	{name: "an edge that loses the others", needs: needs("links", "several-edges"), all: losesOthers},
	{name: "kill", needs: needs("reconnect", "several-edges"), all: killed},
	{name: "kill of the only edge", needs: needs("reconnect"), all: killedAlone},
	{name: "kill of an edge that is back at once", needs: needs("reconnect"), all: killedBriefly},

	{name: "a frozen edge", needs: needs("suspicion", "reconnect"), all: frozen},
	{name: "a path that dies under traffic", needs: needs("suspicion", "several-edges"), all: pathDies},
	{name: "a path that dies without traffic", needs: needs("suspicion", "several-edges"), all: quietPathDies},
	{name: "UDP dies", browser: true, only: "webtransport", needs: needs("suspicion", "fallback"), all: udpDies},
	{name: "UDP is away", only: "webtransport", needs: needs("suspicion", "reconnect"), all: udpAway},
	{name: "a path that becomes narrow", only: "webtransport", needs: needs("suspicion", "fallback"), all: narrowPath},
	{name: "another address", needs: needs("suspicion", "reconnect"), all: otherAddress},
}

// Each scenario plays once in each SDK, with the transports in turns; in a soak, and for the
// client of MILLRACE_CLIENT, over all of them.
func TestSDKs(t *testing.T) {
	t.Parallel()
	play(t, func(at int, row scenario) []sdk.Kind {
		return choose(at, row, func(k sdk.Kind) bool { return !k.InBrowser() })
	})
}

// What only a browser can show; in a soak all of TestSDKs.
func TestSDKsInBrowsers(t *testing.T) {
	t.Parallel()
	play(t, func(at int, row scenario) []sdk.Kind {
		return choose(at, row, func(k sdk.Kind) bool { return k.InBrowser() && (row.browser || harness.Soaking) })
	})
}

// The SDK for TypeScript in Deno and in Bun; a soak plays all scenarios for one client over
// WebSocket.
func TestSDKRuntimes(t *testing.T) {
	t.Parallel()
	play(t, func(_ int, row scenario) []sdk.Kind {
		brief := slices.Contains([]string{"connect", "messages", "payloads"}, row.name)
		if row.each == nil || row.only == "webtransport" || row.name == "UDP blocked" || !brief && !harness.Soaking {
			return nil
		}
		return sdk.Runtimes
	})
}

// choose is the kinds that play a scenario, of some. An SDK with both transports uses one of
// them, in turns.
func choose(at int, row scenario, of func(sdk.Kind) bool) (kinds []sdk.Kind) {
	for _, k := range sdk.Kinds {
		if (row.only == "" || k.Transport == row.only) && of(k) {
			kinds = append(kinds, k)
		}
	}
	if harness.Soaking || clientOutcomes != nil {
		return kinds
	}
	places := []string{"go", "node", "python", "chromium", "firefox"}
	return slices.DeleteFunc(kinds, func(k sdk.Kind) bool {
		turn := []string{"websocket", "webtransport"}[(at+slices.Index(places, k.Where)/2)%2]
		return row.only == "" && k.AlsoOver(turn) && k.Transport != turn
	})
}

// lab is what the scenarios below one test share.
type lab struct {
	sdk.Lab
	shared *harness.Edge // for scenarios that do nothing to it
	hooked func() (*harness.Edge, *harness.HookBackend)
	nats   func() []*natstest.Node
}

// stage is where a scenario plays.
type stage struct {
	*sdk.Stage
	lab     *lab
	kinds   []sdk.Kind           // that play together; of one that plays for each kind, nil
	backend *harness.HookBackend // that the edge asks; nil: it asks none
}

func play(t *testing.T, choose func(at int, row scenario) []sdk.Kind) {
	t.Helper()
	l := &lab{shared: harness.StartEdge(t, sharedCaddyfile, harness.ForBrowsers)}
	l.T, l.Roots = t, []*harness.Edge{l.shared}
	l.hooked = sync.OnceValues(func() (*harness.Edge, *harness.HookBackend) { return harness.StartHookedEdge(t, harness.ForBrowsers) })
	l.nats = sync.OnceValue(func() []*natstest.Node { return harness.StartNATS(t, 1) })
	for at, row := range scenarios {
		kinds := choose(at, row)
		if len(kinds) == 0 && clientOutcomes == nil {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			supported(t, row)
			s := &stage{lab: l, kinds: kinds}
			e := l.shared
			switch {
			case row.hooked:
				e, s.backend = l.hooked()
			case row.caddyfile != "":
				e = harness.StartEdge(t, row.caddyfile, harness.ForBrowsers)
			}
			if row.all != nil {
				s.Stage = l.Stage(t, sdk.Kind{}, e)
				clientOutcomes.watch(t, row.name, kinds...)
				row.all(s)
				return
			}
			for _, kind := range kinds {
				t.Run(kind.String(), func(t *testing.T) {
					t.Parallel()
					clientOutcomes.watch(t, row.name, kind)
					row.each(&stage{Stage: l.Stage(t, kind, e), lab: l, backend: s.backend})
				})
			}
		})
	}
}

// with is a stage for the same kinds at other edges.
func (s *stage) with(edges ...*harness.Edge) *stage {
	return &stage{Stage: s.lab.Stage(s.T, s.Kind, edges...), lab: s.lab, kinds: s.kinds}
}

// sharedCaddyfile is an edge with a history, and with presence in which members linger longer
// than any test waits: who is seen to leave has said so. It has a list of edges.
var sharedCaddyfile = withRooms(strings.Replace(history.Caddyfile("memory"), "\trespond \"no such page\" 404\n",
	"\tpubsub_edges /near {\n\t\tedge localhost:{{.HTTPS}} EU\n\t}\n\trespond \"no such page\" 404\n", 2), "10m")

// withRooms lets an edge know who is in room.#, and of one member at a time in few.#.
func withRooms(caddyfile, linger string) string {
	return strings.Replace(caddyfile, "drain ", `presence rooms {
			channels room.#
			linger `+linger+`
		}
		presence few {
			channels few.#
			members 1
		}
		drain `, 1)
}

// Package conformance has what docs/protocol.md says of sessions over every transport: the
// table [Cases], whose cases open their sessions by a [harness.Stage]. Its own test plays them
// on one edge, package cluster over two, and package sdks some of them through the SDKs.
package conformance

import (
	"cmp"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

var Transports = []harness.Transport{
	{
		Name: "websocket", TryOpen: (*harness.Edge).TryOpen,
		Crowd: harness.AtLength(10, 200), Races: harness.AtLength(16, 1000),
		Gone: func(err error) bool {
			return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
		},
		Rude: webSocketAborts, Half: incompleteWebSockets,
	},
	{
		Name: "webtransport", TryOpen: (*harness.Edge).TryWebTransport, CodeAlone: true,
		Crowd: harness.AtLength(5, 50), Races: harness.AtLength(8, 120),
		Gone: func(error) bool { return false }, // the port answers until the end
		Rude: webTransportAborts, Half: incompleteWebTransports,
	},
}

// Case is something that holds for sessions over every transport.
type Case struct {
	Name      string
	caddyfile string // of the case's own edge; empty: DefaultCaddyfile
	Options   []harness.Option
	Shared    bool // it plays on one edge with others, one after the other, and leaves it as it is
	Brokered  bool // its outcome depends on what is between the edges
	Run       func(c *harness.Stage)
}

var Cases = []Case{
	{Name: "publish and subscribe", Shared: true, Brokered: true, Run: publishAndSubscribe},

	{Name: "revocation", Shared: true, Brokered: true, Run: revocation},
	{Name: "expiry", Shared: true, Brokered: true, Run: expiry},
	{Name: "rights of the connection", caddyfile: regionalCaddyfile, Run: connectionRights},
	{Name: "revocation races handshake and refresh", caddyfile: regionalCaddyfile, Brokered: true, Run: revocationRaces},

	{Name: "reloads lose nothing", caddyfile: American, Run: reloadsLoseNothing},
	{Name: "reload takes effect", caddyfile: American, Options: []harness.Option{harness.WithEnv("SECOND=" + second)}, Run: reloadTakesEffect},
	{Name: "refused reload changes nothing", caddyfile: American, Run: refusedReloadChangesNothing},

	{Name: "stop", caddyfile: harness.PatientCaddyfile, Brokered: true, Run: stop},
	{Name: "drain by the admin API", Run: drainByAdmin},
	{Name: "no goroutine stays", Run: noGoroutineStays},
}

// Unthrottled is an edge whose caps do not slow a flood down.
var Unthrottled = strings.ReplaceAll(harness.DefaultCaddyfile, "16384", "1048576")

// PlayShared plays those cases of a list that need no edges of their own, which start
// opens, one after the other: no session of one is left when the next begins.
func PlayShared(tr harness.Transport, t *testing.T, cases []Case, start func(t *testing.T) (near, far *harness.Edge)) {
	t.Run("shared", func(t *testing.T) {
		t.Parallel()
		edge, other := start(t)
		for _, row := range cases {
			if !row.Shared {
				continue
			}
			t.Run(row.Name, func(t *testing.T) {
				c := &harness.Stage{T: t, Edge: edge.With(t), Transport: tr, Far: nil}
				if other != nil {
					c.Far = &harness.Far{Edge: other.With(t)}
				}
				row.Run(c)
			})
			harness.AwaitConnections(edge, 0)
			if other != nil {
				harness.AwaitConnections(other, 0)
			}
		}
	})
}

// EdgeFile is the Caddyfile of the case's own edge.
func (c Case) EdgeFile() string { return cmp.Or(c.caddyfile, harness.DefaultCaddyfile) }

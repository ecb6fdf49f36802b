// Package conformance has what docs/protocol.md says of sessions, as far as it needs an edge
// that is a process with Caddy; edgetest has the rest.
package conformance

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

var Transports = []harness.Transport{
	{Name: "websocket", TryOpen: (*harness.Edge).TryOpen},
	{Name: "webtransport", TryOpen: (*harness.Edge).TryWebTransport},
}

// Case is something that holds for sessions over every transport.
type Case struct {
	Name      string
	caddyfile string // of the case's own edge; empty: it leaves an edge as it is, and shares it
	Brokered  bool   // its outcome depends on what is between the edges
	run       func(c *harness.Stage)
}

var Cases = []Case{
	{Name: "publish and subscribe", Brokered: true, run: publishAndSubscribe},
	{Name: "revocation", Brokered: true, run: revocation},
	{Name: "expiry", Brokered: true, run: expiry},
	{Name: "rights of the connection", caddyfile: regionalCaddyfile, run: connectionRights},
	{Name: "presence", caddyfile: harness.WithPresence(), run: presence},
	{Name: "reload takes effect", caddyfile: American, run: reloadTakesEffect},
	{Name: "refused reload changes nothing", caddyfile: American, run: refusedReloadChangesNothing},
	{Name: "stop", caddyfile: harness.PatientCaddyfile, Brokered: true, run: stop},
	{Name: "drain by the admin API", caddyfile: harness.DefaultCaddyfile, run: drainByAdmin},
}

// Unthrottled is an edge whose caps do not slow a flood down.
var Unthrottled = strings.ReplaceAll(harness.DefaultCaddyfile, "16384", "1048576")

// Play plays cases over a transport on edges that start opens; far is nil if there is one
// alone. Those that share edges play one after the other: no session of one is left when the
// next begins.
func Play(t *testing.T, tr harness.Transport, cases []Case, start func(t *testing.T, caddyfile string) (near, far *harness.Edge)) {
	play := func(t *testing.T, c Case, near, far *harness.Edge) {
		stage := &harness.Stage{T: t, Edge: near.With(t), Transport: tr}
		if far != nil {
			stage.Far = &harness.Far{Edge: far.With(t)}
		}
		c.run(stage)
	}
	t.Run("shared", func(t *testing.T) {
		t.Parallel()
		near, far := start(t, harness.DefaultCaddyfile)
		for _, c := range cases {
			if c.caddyfile != "" {
				continue
			}
			t.Run(c.Name, func(t *testing.T) { play(t, c, near, far) })
			harness.AwaitConnections(near, 0)
			if far != nil {
				harness.AwaitConnections(far, 0)
			}
		}
	})
	for _, c := range cases {
		if c.caddyfile != "" {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				near, far := start(t, c.caddyfile)
				play(t, c, near, far)
			})
		}
	}
}

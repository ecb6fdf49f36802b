package conformance

import (
	"cmp"
	"errors"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

var Transports = []harness.Transport{
	{
		Name: "websocket", Other: "webtransport", TryOpen: (*harness.Edge).TryOpen,
		Crowd: harness.AtLength(50, 200), Races: harness.AtLength(64, 1000), Reloads: harness.AtLength(6, 20),
		Gone: func(err error) bool {
			return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
		},
		Rude: webSocketAborts, Flooder: webSocketFlooder, Half: incompleteWebSockets,
	},
	{
		Name: "webtransport", Other: "websocket", TryOpen: (*harness.Edge).TryWebTransport, CodeAlone: true,
		Crowd: harness.AtLength(20, 50), Races: harness.AtLength(32, 120), Reloads: harness.AtLength(6, 20),
		Gone: func(error) bool { return false }, // the port answers until the end
		Rude: webTransportAborts, Flooder: webTransportFlooder, Half: incompleteWebTransports,
	},
}

// Case is something that holds for sessions over every transport.
type Case struct {
	Name      string
	caddyfile string // of the case's own edge; empty: defaultCaddyfile
	Options   []harness.Option
	Shared    bool // it plays on one edge with others, one after the other, and leaves it as it is
	Sdk       throughSDKs
	Run       func(c *harness.Stage)
}

var Cases = []Case{
	{Name: "publish and subscribe", Sdk: all, Run: publishAndSubscribe},
	{Name: "frames to the byte", Shared: true, Run: framesToTheByte},
	{Name: "lines and frames", Shared: true, Run: linesAndFrames},
	{Name: "messages that close", Shared: true, Run: messagesThatClose},
	{Name: "broken messages in a row", Shared: true, Run: brokenMessagesInARow},
	{Name: "subscription limits", Shared: true, Run: subscriptionLimits},
	{Name: "ingress cap", Shared: true, Sdk: all, Run: ingressCap},

	{Name: "tenants are apart", Shared: true, Sdk: all, Run: tenantsAreApart},
	{Name: "default tenant", Shared: true, Sdk: all, Run: defaultTenant},
	{Name: "deliver modes", Shared: true, Sdk: all, Run: deliverModes},
	{Name: "slow consumer, drop", caddyfile: SlowCaddyfile("drop"), Run: slowConsumerDrop},
	{Name: "slow consumer, disconnect", caddyfile: SlowCaddyfile("disconnect"), Run: slowConsumerDisconnect},
	{Name: "egress limited", Shared: true, Sdk: all, Run: egressLimited},
	{Name: "flood without reading", caddyfile: Unthrottled, Run: floodWithoutReading},
	{Name: "vanished subscriber", Run: vanishedSubscriber},

	{Name: "tokens that are refused", Run: refusedTokens},
	{Name: "rights of the connection", caddyfile: RegionalCaddyfile, Run: connectionRights},
	{Name: "connection limits", caddyfile: NarrowCaddyfile, Run: connectionLimits},
	{Name: "revocation", Shared: true, Sdk: Told, Run: revocation},
	{Name: "expiry", Shared: true, Sdk: Told, Run: expiry},
	{Name: "refresh to an earlier end", Shared: true, Run: refreshShortens},
	{Name: "deleted master token", Run: deletedMasterWithTokens},
	{Name: "removed static master token", Options: []harness.Option{harness.WithEnv("SUCCESSOR=" + successor)}, Run: removedStaticMaster},
	{Name: "revocation races handshake", caddyfile: RacingCaddyfile, Run: revokeRacesHandshake},
	{Name: "revocation races refresh", caddyfile: RacingCaddyfile, Run: revokeRacesRefresh},

	{Name: "reloads lose nothing", caddyfile: American, Sdk: all, Run: reloadsLoseNothing},
	{Name: "reload takes effect", caddyfile: American, Options: []harness.Option{harness.WithEnv("SECOND=" + second)}, Sdk: Told, Run: reloadTakesEffect},
	{Name: "refused reload changes nothing", caddyfile: American, Run: refusedReloadChangesNothing},

	{Name: "stop drains", Run: stopDrains},
	{Name: "stop ends with the last client", Run: stopEndsWithTheLastClient},
	{Name: "stop tells before requests end", Run: stopTellsBeforeRequestsEnd},
	{Name: "drain by the admin API", Run: drainByAdmin},
	{Name: "no goroutine stays", Run: noGoroutineStays},
}

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

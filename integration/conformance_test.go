package integration

import (
	"cmp"
	"errors"
	"syscall"
	"testing"
)

// transport is a way to open sessions.
type transport struct {
	name    string // as in the rights of tokens
	other   string // the name of the other transport
	tryOpen func(e *edge, h handshake) (*socket, answer, error)
	// gone says that an edge which stops may answer a handshake like this.
	gone func(error) bool
	// codeAlone says that a session whose client has opened no stream yet can be
	// told no ERR line.
	codeAlone bool
	// crowd is how many sessions a test opens where many are the point: those
	// over QUIC cost more.
	crowd int
	races int // how often a test tries to meet a moment
	// reloads is how often a test reloads the edge below its clients.
	reloads int
	// rude are ways in which a client leaves that break the transport's rules.
	rude []func(*socket) error
	// flooder opens a session that sends more than it reads.
	flooder func(c *stage, token string) *flooder
	// half leaves handshakes unfinished.
	half func(c *stage, token string)
}

var transports = []transport{
	{
		name: "websocket", other: "webtransport", tryOpen: (*edge).tryOpen,
		crowd: atLength(50, 200), races: atLength(64, 1000), reloads: atLength(6, 20),
		gone: func(err error) bool {
			return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
		},
		rude: webSocketAborts, flooder: webSocketFlooder, half: incompleteWebSockets,
	},
	{
		name: "webtransport", other: "websocket", tryOpen: (*edge).tryWebTransport, codeAlone: true,
		crowd: atLength(20, 50), races: atLength(32, 120), reloads: atLength(6, 20),
		gone: func(error) bool { return false }, // the port answers until the end
		rude: webTransportAborts, flooder: webTransportFlooder, half: incompleteWebTransports,
	},
}

// stage is where a case of the conformance suite plays: an edge, and how its
// clients reach it. Cases open sessions by its methods only.
type stage struct {
	t *testing.T
	*edge
	transport
	far *far // nil: there is one edge alone
}

// publisher opens the session of a client whose messages go to subscribers: at
// the other edge, if there is one.
func (c *stage) publisher(token string) *socket {
	c.t.Helper()
	if c.far == nil {
		return c.dial(token)
	}
	c.far.open.Do(func() { c.far.connect(c) })
	at := *c
	at.edge = c.far.edge.with(c.t)
	return at.dial(token)
}

// subscriber opens the session of a client that gets a publisher's messages.
func (c *stage) subscriber(token string) *socket {
	c.t.Helper()
	return c.hearing(c.dial(token))
}

// hearing makes a session a subscriber's.
func (c *stage) hearing(s *socket) *socket {
	c.t.Helper()
	if c.far != nil {
		c.far.open.Do(func() { c.far.connect(c) })
		s.subscribed = func() { c.far.pass(c.t, c.far.here, c.far.there, "to.there") }
	}
	return s
}

// dial opens the session of a client that has no other to do with, with the
// token in a header, as a program does.
func (c *stage) dial(token string) *socket {
	c.t.Helper()
	return c.mustOpen(handshake{Token: token})
}

// dialBrowser opens a session as a browser does, with the token among the
// subprotocols.
func (c *stage) dialBrowser(token string) *socket {
	c.t.Helper()
	return c.mustOpen(handshake{Protocols: []string{"llps.v1", "at." + token}})
}

func (c *stage) mustOpen(h handshake) *socket {
	c.t.Helper()
	s, refused := c.open(h)
	if s == nil {
		c.t.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	s.ping() // the edge has all of the session now, the stream included
	return s
}

// open opens a session; a refusal comes back as the answer.
func (c *stage) open(h handshake) (*socket, answer) {
	c.t.Helper()
	s, a, err := c.transport.tryOpen(c.edge, h)
	if err != nil {
		c.t.Fatal(err)
	}
	return s, a
}

// settle requires that nothing is on its way from the publisher to these
// subscribers any more.
func (c *stage) settle(publisher *socket, subscribers ...*socket) {
	c.t.Helper()
	publisher.fence()
	if c.far != nil && c.far.here != nil {
		c.far.pass(c.t, c.far.there, c.far.here, "to.here")
	}
	for _, s := range subscribers {
		s.fence()
	}
}

// run runs a part of the case as a subtest.
func (c *stage) run(name string, f func(c *stage)) {
	c.t.Helper()
	c.t.Run(name, func(t *testing.T) { f(&stage{t, c.edge.with(t), c.transport, c.far}) })
}

// room is a token for everything in the tenant paint.room.
func (c *stage) room() string {
	c.t.Helper()
	return c.issue(allowAll("room")).Token
}

// conformanceCase is something that holds for sessions over every transport.
type conformanceCase struct {
	name      string
	caddyfile string // of the case's own edge; empty: defaultCaddyfile
	options   []option
	shared    bool // it plays on one edge with others, one after the other, and leaves it as it is
	sdk       throughSDKs
	run       func(c *stage)
}

var conformance = []conformanceCase{
	{name: "publish and subscribe", sdk: all, run: publishAndSubscribe},
	{name: "frames to the byte", shared: true, run: framesToTheByte},
	{name: "lines and frames", shared: true, run: linesAndFrames},
	{name: "messages that close", shared: true, run: messagesThatClose},
	{name: "broken messages in a row", shared: true, run: brokenMessagesInARow},
	{name: "subscription limits", shared: true, run: subscriptionLimits},
	{name: "ingress cap", shared: true, sdk: all, run: ingressCap},

	{name: "tenants are apart", shared: true, sdk: all, run: tenantsAreApart},
	{name: "default tenant", shared: true, sdk: all, run: defaultTenant},
	{name: "deliver modes", shared: true, sdk: all, run: deliverModes},
	{name: "slow consumer, drop", caddyfile: slowCaddyfile("drop"), run: slowConsumerDrop},
	{name: "slow consumer, disconnect", caddyfile: slowCaddyfile("disconnect"), run: slowConsumerDisconnect},
	{name: "egress limited", shared: true, sdk: all, run: egressLimited},
	{name: "flood without reading", caddyfile: unthrottled, run: floodWithoutReading},
	{name: "vanished subscriber", run: vanishedSubscriber},

	{name: "tokens that are refused", run: refusedTokens},
	{name: "rights of the connection", caddyfile: regionalCaddyfile, run: connectionRights},
	{name: "connection limits", caddyfile: narrowCaddyfile, run: connectionLimits},
	{name: "revocation", shared: true, sdk: told, run: revocation},
	{name: "expiry", shared: true, sdk: told, run: expiry},
	{name: "refresh to an earlier end", shared: true, run: refreshShortens},
	{name: "deleted master token", run: deletedMasterWithTokens},
	{name: "removed static master token", options: []option{withEnv("SUCCESSOR=" + successor)}, run: removedStaticMaster},
	{name: "revocation races handshake", caddyfile: racingCaddyfile, run: revokeRacesHandshake},
	{name: "revocation races refresh", caddyfile: racingCaddyfile, run: revokeRacesRefresh},

	{name: "reloads lose nothing", caddyfile: american, sdk: all, run: reloadsLoseNothing},
	{name: "reload takes effect", caddyfile: american, options: []option{withEnv("SECOND=" + second)}, sdk: told, run: reloadTakesEffect},
	{name: "refused reload changes nothing", caddyfile: american, run: refusedReloadChangesNothing},

	{name: "stop drains", run: stopDrains},
	{name: "stop ends with the last client", run: stopEndsWithTheLastClient},
	{name: "stop tells before requests end", run: stopTellsBeforeRequestsEnd},
	{name: "drain by the admin API", run: drainByAdmin},
	{name: "no goroutine stays", run: noGoroutineStays},
}

// playShared plays those cases of a list that need no edges of their own, which start
// opens, one after the other: no session of one is left when the next begins.
func (tr transport) playShared(t *testing.T, cases []conformanceCase, start func(t *testing.T) (near, far *edge)) {
	t.Run("shared", func(t *testing.T) {
		t.Parallel()
		edge, other := start(t)
		for _, row := range cases {
			if !row.shared {
				continue
			}
			t.Run(row.name, func(t *testing.T) {
				c := &stage{t, edge.with(t), tr, nil}
				if other != nil {
					c.far = &far{edge: other.with(t)}
				}
				row.run(c)
			})
			awaitConnections(edge, 0)
			if other != nil {
				awaitConnections(other, 0)
			}
		}
	})
}

// What docs/protocol.md says of sessions, over each transport.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			tr.playShared(t, conformance, func(t *testing.T) (near, far *edge) { return startEdge(t, defaultCaddyfile), nil })
			for _, row := range conformance {
				if row.shared {
					continue
				}
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					row.run(&stage{t, startEdge(t, row.edgeFile(), row.options...), tr, nil})
				})
			}
		})
	}
}

// edgeFile is the Caddyfile of the case's own edge.
func (c conformanceCase) edgeFile() string { return cmp.Or(c.caddyfile, defaultCaddyfile) }

// The same with the publishers at another edge: the cases with edges of their own over the
// transports in turns, in a soak over both.
func TestConformanceOverEdges(t *testing.T) {
	t.Parallel()
	nodes := startNATS(t, 3)
	pair := func(t *testing.T, caddyfile string, options ...option) (near, far *edge) {
		join := joining(nodes, "")
		near = startEdge(t, caddyfile, append(options, join[0])...)
		return near, startEdge(t, caddyfile, append(options, withMaster(near), join[1])...)
	}
	t.Run("over", func(t *testing.T) { // ends when all have
		for _, tr := range transports {
			t.Run(tr.name, func(t *testing.T) {
				t.Parallel()
				tr.races = atLength(16, 50) // each token is written to three disks
				tr.playShared(t, conformance, func(t *testing.T) (near, far *edge) { return pair(t, defaultCaddyfile) })
				for i, row := range conformance {
					if row.shared || !soaking && tr.name != transports[i%len(transports)].name {
						continue
					}
					t.Run(row.name, func(t *testing.T) {
						t.Parallel()
						near, other := pair(t, row.edgeFile(), row.options...)
						row.run(&stage{t, near, tr, &far{edge: other}})
					})
				}
			})
		}
	})
}

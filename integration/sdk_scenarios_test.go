package integration

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An sdkScenario is something that holds for clients of every kind.
type sdkScenario struct {
	name      string
	caddyfile string // of the scenario's own edge; empty: the shared one
	hooked    bool   // it plays at the edge with hooks, which these scenarios share
	setup     func(t *testing.T, e *edge)
	only      string   // a transport; empty: both
	needs     []string // features of clientdriver.Features
	run       func(s *sdkStage)
}

var sdkScenarios = []sdkScenario{
	{name: "connect", run: sdkConnects},
	{name: "messages", run: sdkMessages},
	{name: "payloads", run: sdkPayloads},
	{name: "deliver to one", run: sdkDeliversToOne},
	{name: "local queues", needs: needs("queues"), run: sdkQueues},
	{name: "slow consumer", caddyfile: slowCaddyfile("drop"), run: sdkSlowConsumer},
	{name: "forbidden channels", run: sdkForbidden},
	{name: "histories", caddyfile: historyCaddyfile("memory"), needs: needs("histories", "reconnect"), run: sdkHistories},

	{name: "senders", caddyfile: historyCaddyfile("memory"), needs: needs("senders", "histories"), run: sdkSenders},
	{name: "presence", caddyfile: sdkPresenceCaddyfile, needs: needs("presence"), run: sdkPresence},

	{name: "bad token", run: sdkBadToken},
	{name: "revocation", run: sdkRevocation},
	{name: "expiry", run: sdkExpiry},
	{name: "token provider", needs: needs("token-provider", "moves"), run: sdkProvider},
	{name: "failing token provider", needs: needs("token-provider", "moves"), run: sdkFailingProvider},
	{name: "renewing the token now", needs: needs("token-provider", "renew-token", "moves"), run: sdkRenewsNow},
	{name: "relative expiry", needs: needs("token-provider", "expires-in", "moves"), run: sdkExpiresIn},
	{name: "logged out", needs: needs("token-provider", "logged-out"), run: sdkLoggedOut},
	{name: "refresh", run: sdkRefresh},
	{name: "hooks", hooked: true, run: sdkHooks},
	{name: "retry", hooked: true, needs: needs("reconnect", "retry"), run: sdkRetries},
	{name: "told when to try again", hooked: true, needs: needs("reconnect", "retry-after"), run: sdkRetriesAfter},
	{name: "token admin", only: "websocket", needs: needs("token-admin"), run: sdkTokenAdmin},

	{name: "plaintext", run: sdkPlaintext},
	{name: "list of edges", caddyfile: sdkListCaddyfile, needs: needs("edge-lists"), run: sdkList},
	{name: "nearest edge", needs: needs("several-edges"), run: sdkNearest},
	{name: "other protocol", needs: needs("fallback"), run: sdkOtherProtocol},
	{name: "forced transport", caddyfile: sdkOffCaddyfile, run: sdkForced},
	{name: "webtransport off", caddyfile: sdkOffCaddyfile, only: "websocket", needs: needs("fallback"), run: sdkFallsBack},
	{name: "stalled handshake", only: "webtransport", run: sdkStalledHandshake},
	{
		name: "UDP blocked", caddyfile: sdkNoUDPCaddyfile, setup: blockUDP, only: "websocket",
		needs: needs("fallback", "token-provider", "moves"), run: sdkWithoutUDP,
	},
}

func needs(features ...string) []string { return features }

// What docs/clients.md says, over each SDK and transport.
func TestSDKs(t *testing.T) {
	t.Parallel()
	lab := &sdkLab{
		browsers: startSDKBrowsers(t), shared: startEdge(t, defaultCaddyfile, forBrowsers), hooked: startingHooked(t, forBrowsers),
	}
	if !sdkLacks("several-edges") {
		lab.nats = startNATS(t, 1)
	}
	for _, row := range sdkScenarios {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			sdkSupported(t, row.name, row.only, row.needs)
			lab.play(t, row, sdkKindsOver(row.only))
		})
	}
	for _, row := range slices.Concat(sdkMoves, sdkSuspicions) {
		kinds := sdkKindsOver(row.only)
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			sdkSupported(t, row.name, row.only, row.needs)
			clientOutcomes.watch(t, row.name, kinds...)
			row.run(t, lab)
		})
	}
}

// play runs a scenario with clients of some kinds, side by side.
func (l *sdkLab) play(t *testing.T, row sdkScenario, kinds []sdkKind) {
	t.Helper()
	e := l.shared
	var backend *hookBackend
	switch {
	case row.hooked:
		hooked := l.hooked()
		e, backend = hooked.edge, hooked.backend
	case row.caddyfile != "":
		e = startEdge(t, row.caddyfile, forBrowsers)
	}
	if row.setup != nil {
		row.setup(t, e)
	}
	for _, kind := range kinds {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			clientOutcomes.watch(t, row.name, kind)
			s := l.stage(t, kind, e)
			s.backend = backend
			row.run(s)
		})
	}
}

func sdkConnects(s *sdkStage) {
	c := s.connect(sdkOptions{KeepAlive: 200})
	if e := c.event("connected"); e.Edge != s.edges[0].httpsURL("") || e.Transport != s.kind.transport {
		s.t.Errorf("got %v, want the edge %s", e, s.edges[0].httpsURL(""))
	}
	for range 2 {
		// The clock of Firefox has milliseconds, against pages that measure what they must not.
		if e := c.event("roundTrip"); e.RTT < 0 || (e.RTT == 0 && s.kind.where != "firefox") || e.RTT > inMS(waitTimeout) {
			s.t.Errorf("got %v, want a time", e)
		}
	}
	c.close()
	if _, err := c.try(sdkCommand{Cmd: "publish", Tenant: s.tenant, Channel: "x"}); err.ErrorCode() != "closed" {
		s.t.Errorf("publishing on a closed client: %v, want closed", err)
	}
	c.never("disconnected", "reconnecting", "moving", "edgeError")
}

// Each subscription that matches gets each message, by whichever way it is read.
func sdkMessages(s *sdkStage) {
	publisher, subscriber := s.connect(sdkOptions{}), s.connect(sdkOptions{})
	news := subscriber.subscribe(s.tenant, "news.*")
	all := subscriber.subscribeAs("callback", s.tenant, "#", nil)
	other := subscriber.subscribe(s.tenant, "other")
	own := publisher.subscribe(s.tenant, "news.today")

	publisher.publish(s.tenant, "news.today", "Grüße")
	publisher.publish(s.tenant, "x", "of x")
	news.want(s.tenant, "news.today", "Grüße", "news.*", "#")
	all.want(s.tenant, "news.today", "Grüße", "#", "news.*")
	all.want(s.tenant, "x", "of x", "#")
	own.want(s.tenant, "news.today", "Grüße", "news.today") // publishers get their own, too

	news.unsubscribe()
	news.wantEnd("")
	publisher.publish(s.tenant, "news.today", "later")
	all.want(s.tenant, "news.today", "later", "#")
	news.wantNone()
	other.wantNone()

	// The same pattern twice: two subscriptions, of which one may end.
	again := subscriber.subscribe(s.tenant, "#")
	publisher.publish(s.tenant, "y", "to both")
	all.want(s.tenant, "y", "to both", "#")
	again.want(s.tenant, "y", "to both", "#")
	all.unsubscribe()
	publisher.publish(s.tenant, "y", "to one")
	again.want(s.tenant, "y", "to one", "#")
	all.wantNone()
}

func (s *sdkSub) unsubscribe() {
	s.c.t.Helper()
	s.c.must(sdkCommand{Cmd: "unsubscribe", Sub: s.name})
}

func sdkPayloads(s *sdkStage) {
	c := s.connect(sdkOptions{})
	sub := c.subscribe(s.tenant, "p")
	var bytes [256]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	payloads := []string{"text", string(bytes[:]), "", strings.Repeat("x", 60_000), "\x00", strings.Repeat("ü", 30_000)}
	for _, payload := range payloads {
		c.publish(s.tenant, "p", payload)
	}
	for _, payload := range payloads {
		sub.want(s.tenant, "p", payload, "p")
	}
	c.never("publishError", "disconnected")
}

// Of two clients one gets each message.
func sdkDeliversToOne(s *sdkStage) {
	const messages = 100
	publisher := s.connect(sdkOptions{})
	first, second := s.connect(sdkOptions{}), s.connect(sdkOptions{})
	subs := []*sdkSub{first.subscribe(s.tenant, "jobs.*"), second.subscribe(s.tenant, "jobs.*")}
	for i := range messages {
		delivery := []string{"one-nearest", "one-random"}[i%2]
		publisher.must(sdkCommand{
			Cmd: "publish", Tenant: s.tenant, Channel: "jobs.a", Delivery: delivery, Payload: []byte(strconv.Itoa(i)),
		})
	}
	publisher.publish(s.tenant, "jobs.a", "end")
	var got []int
	for _, sub := range subs {
		before, count := -1, 0
		for {
			payload := string(sub.next().Payload)
			if payload == "end" {
				break
			}
			n, err := strconv.Atoi(payload)
			if err != nil || n <= before {
				s.t.Fatalf("%s came after %d", payload, before)
			}
			before = n
			got = append(got, n)
			count++
		}
		if count < messages/10 { // 50 on average, with a deviation of 5
			s.t.Errorf("a client got %d of %d messages", count, messages)
		}
	}
	slices.Sort(got)
	for i, n := range got {
		if i != n {
			s.t.Fatalf("got %v, want each number once", got)
		}
	}
	if len(got) != messages {
		s.t.Fatalf("got %d messages, want %d", len(got), messages)
	}
}

// What an application does not read in time is dropped as it wishes, and it is
// told.
func sdkQueues(s *sdkStage) {
	const queue, messages = 4, 10
	c := s.connect(sdkOptions{})
	held := map[string]*sdkSub{}
	for _, policy := range []string{"drop-oldest", "drop-newest", "end"} {
		held[policy] = c.subscribeAs("held", s.tenant, "q."+policy, &sdkOptions{Queue: queue, QueuePolicy: policy})
	}
	probe := c.subscribe(s.tenant, "q.*")
	for i := range messages {
		for policy := range held {
			c.publish(s.tenant, "q."+policy, strconv.Itoa(i))
		}
	}
	for range messages * len(held) {
		probe.next()
	}
	c.flush() // the client has handled all

	for policy, from := range map[string]int{"drop-oldest": messages - queue, "drop-newest": 0} {
		for dropped := 0; dropped < messages-queue; {
			e := c.eventThat("queueFull", func(r sdkReport) bool { return r.Pattern == "q."+policy })
			if dropped += e.Dropped; e.Tenant != s.tenant || e.Dropped < 1 || dropped > messages-queue {
				s.t.Fatalf("got %v, want %d dropped in all", e, messages-queue)
			}
		}
		held[policy].read()
		for i := range queue {
			held[policy].want(s.tenant, "q."+policy, strconv.Itoa(from+i), "q."+policy, "q.*")
		}
		c.publish(s.tenant, "q."+policy, "more") // it goes on
		held[policy].want(s.tenant, "q."+policy, "more", "q."+policy, "q.*")
	}
	held["end"].read()
	held["end"].wantEnd("queue_full")
	c.never("disconnected")
}

func (s *sdkSub) read() {
	s.c.t.Helper()
	s.c.must(sdkCommand{Cmd: "read", Sub: s.name})
}

// What the edge drops, since the client takes it too slowly, it counts.
func sdkSlowConsumer(s *sdkStage) {
	request := tokenRequest(allowAll(s.room))
	request["right"].(object)["egress_kb_per_sec"] = slowEgress
	slow := s.connect(sdkOptions{Token: s.edges[0].issueAs(s.edges[0].master, request).Token})
	sub := slow.subscribe(s.tenant, "#")
	publisher := s.edges[0].dial(s.token())
	for i := range flood {
		publisher.publish(s.tenant, "c", strconv.Itoa(i)+strings.Repeat(".", 900))
	}
	publisher.ping()
	received, last := 0, -1
	for last < flood-1 { // the oldest are dropped
		n, err := strconv.Atoi(strings.TrimRight(string(sub.next().Payload), "."))
		if err != nil || n <= last {
			s.t.Fatalf("%d came after %d (%v)", n, last, err)
		}
		last = n
		received++
	}
	for lost := 0; lost < flood-received; {
		if lost += slow.event("slowConsumer").Dropped; lost > flood-received {
			s.t.Errorf("told of %d lost messages, but got %d of %d", lost, received, flood)
		}
	}
	if received == flood {
		s.t.Error("nothing was dropped: this test does not test")
	}
	slow.never("disconnected")
}

// Where a token has no rights, a subscription fails, and a publish is an event.
func sdkForbidden(s *sdkStage) {
	c := s.connect(sdkOptions{Token: s.edges[0].issue(grant(s.room, []string{"out.#"}, []string{"in.#"})).Token})
	_, err := c.trySubscribe("iterate", s.tenant, "out.x", nil)
	if err.ErrorCode() != "permission_denied" || err.Tenant != s.tenant || err.Pattern != "out.x" {
		s.t.Errorf("subscribing: %+v, want permission_denied that names the pattern", err)
	}
	c.publish(s.tenant, "in.x", "no")
	if e := c.event("publishError"); e.Code != "permission_denied" || e.Tenant != s.tenant || e.Channel != "in.x" {
		s.t.Errorf("publishing: %v, want permission_denied that names the channel", e)
	}
	for _, illegal := range []sdkCommand{
		{Cmd: "publish", Tenant: s.tenant, Channel: "a.*"},
		{Cmd: "publish", Tenant: "a b", Channel: "a"},
		{Cmd: "subscribe", Sub: "none", Mode: "held", Tenant: s.tenant, Pattern: "*a"},
	} {
		_, err := c.try(illegal)
		if want := []string{"bad_channel", "bad_tenant", "bad_pattern"}; !slices.Contains(want, err.ErrorCode()) {
			s.t.Errorf("%v: %v, want one of %q", illegal, err, want)
		}
	}
	c.subscribe(s.tenant, "in.#")
	c.publish(s.tenant, "out.x", "yes")
	c.flush()
	c.never("disconnected")
	if n := c.count("publishError"); n != 1 {
		s.t.Errorf("%d events publishError, want one: %v", n, c.events.rest())
	}
}

package sdks

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// An sdkScenario is something that holds for clients of every kind.
type sdkScenario struct {
	name      string
	caddyfile string // of the scenario's own edge; empty: the shared one
	hooked    bool   // it plays at the edge with hooks, which these scenarios share
	setup     func(t *testing.T, e *harness.Edge)
	only      string   // a transport; empty: both
	needs     []string // features of clientdriver.Features
	run       func(s *sdk.Stage)
}

var sdkScenarios = []sdkScenario{
	{name: "connect", run: sdkConnects},
	{name: "messages", run: sdkMessages},
	{name: "payloads", run: sdkPayloads},
	{name: "deliver to one", run: sdkDeliversToOne},
	{name: "local queues", needs: needs("queues"), run: sdkQueues},
	{name: "slow consumer", caddyfile: conformance.SlowCaddyfile("drop"), run: sdkSlowConsumer},
	{name: "forbidden channels", run: sdkForbidden},
	{name: "histories", caddyfile: history.Caddyfile("memory"), needs: needs("histories", "reconnect"), run: sdkHistories},

	{name: "senders", caddyfile: history.Caddyfile("memory"), needs: needs("senders", "histories"), run: sdkSenders},
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
	lab := &sdk.Lab{
		Browsers: startSDKBrowsers(t), Shared: harness.StartEdge(t, harness.DefaultCaddyfile, harness.ForBrowsers), Hooked: sdk.StartingHooked(t, harness.ForBrowsers),
	}
	lab.Drivers = &sdk.Drivers{T: t, Edge: lab.Shared}
	if !history.SdkLacks("several-edges") {
		lab.Nats = harness.StartNATS(t, 1)
	}
	for _, row := range sdkScenarios {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			sdkSupported(t, row.name, row.only, row.needs)
			play(lab, t, row, sdk.KindsOver(row.only))
		})
	}
	for _, row := range slices.Concat(sdkMoves, sdkSuspicions) {
		kinds := sdk.KindsOver(row.only)
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			sdkSupported(t, row.name, row.only, row.needs)
			clientOutcomes.watch(t, row.name, kinds...)
			row.run(t, lab)
		})
	}
}

// play runs a scenario with clients of some kinds, side by side.
func play(l *sdk.Lab, t *testing.T, row sdkScenario, kinds []sdk.Kind) {
	t.Helper()
	e := l.Shared
	var backend *harness.HookBackend
	switch {
	case row.hooked:
		hooked := l.Hooked()
		e, backend = hooked.Edge, hooked.Backend
	case row.caddyfile != "":
		e = harness.StartEdge(t, row.caddyfile, harness.ForBrowsers)
	}
	if row.setup != nil {
		row.setup(t, e)
	}
	for _, kind := range kinds {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			clientOutcomes.watch(t, row.name, kind)
			s := l.Stage(t, kind, e)
			s.Backend = backend
			if e == l.Shared {
				s.Share(l.Drivers)
			}
			row.run(s)
		})
	}
}

func sdkConnects(s *sdk.Stage) {
	c := s.Connect(sdk.Options{KeepAlive: 200})
	if e := c.Event("connected"); e.Edge != s.Edges[0].HttpsURL("") || e.Transport != s.Kind.Transport {
		s.T.Errorf("got %v, want the edge %s", e, s.Edges[0].HttpsURL(""))
	}
	for range 2 {
		// The clock of Firefox has milliseconds, against pages that measure what they must not.
		if e := c.Event("roundTrip"); e.RTT < 0 || (e.RTT == 0 && s.Kind.Where != "firefox") || e.RTT > sdk.InMS(harness.WaitTimeout) {
			s.T.Errorf("got %v, want a time", e)
		}
	}
	c.Close()
	if _, err := c.Try(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "x"}); err.ErrorCode() != "closed" {
		s.T.Errorf("publishing on a closed client: %v, want closed", err)
	}
	c.Never("disconnected", "reconnecting", "moving", "edgeError")
}

// Each subscription that matches gets each message, by whichever way it is read.
func sdkMessages(s *sdk.Stage) {
	publisher, subscriber := s.Connect(sdk.Options{}), s.Connect(sdk.Options{})
	news := subscriber.Subscribe(s.Tenant, "news.*")
	all := subscriber.SubscribeAs("callback", s.Tenant, "#", nil)
	other := subscriber.Subscribe(s.Tenant, "other")
	own := publisher.Subscribe(s.Tenant, "news.today")

	publisher.Publish(s.Tenant, "news.today", "Grüße")
	publisher.Publish(s.Tenant, "x", "of x")
	news.Want(s.Tenant, "news.today", "Grüße", "news.*", "#")
	all.Want(s.Tenant, "news.today", "Grüße", "#", "news.*")
	all.Want(s.Tenant, "x", "of x", "#")
	own.Want(s.Tenant, "news.today", "Grüße", "news.today") // publishers get their own, too

	unsubscribe(news)
	news.WantEnd("")
	publisher.Publish(s.Tenant, "news.today", "later")
	all.Want(s.Tenant, "news.today", "later", "#")
	news.WantNone()
	other.WantNone()

	// The same pattern twice: two subscriptions, of which one may end.
	again := subscriber.Subscribe(s.Tenant, "#")
	publisher.Publish(s.Tenant, "y", "to both")
	all.Want(s.Tenant, "y", "to both", "#")
	again.Want(s.Tenant, "y", "to both", "#")
	unsubscribe(all)
	publisher.Publish(s.Tenant, "y", "to one")
	again.Want(s.Tenant, "y", "to one", "#")
	all.WantNone()
}

func unsubscribe(s *sdk.Sub) {
	s.C.T.Helper()
	s.C.Must(sdk.Command{Cmd: "unsubscribe", Sub: s.Name})
}

func sdkPayloads(s *sdk.Stage) {
	c := s.Connect(sdk.Options{})
	sub := c.Subscribe(s.Tenant, "p")
	var bytes [256]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	payloads := []string{"text", string(bytes[:]), "", strings.Repeat("x", 60_000), "\x00", strings.Repeat("ü", 30_000)}
	for _, payload := range payloads {
		c.Publish(s.Tenant, "p", payload)
	}
	for _, payload := range payloads {
		sub.Want(s.Tenant, "p", payload, "p")
	}
	c.Never("publishError", "disconnected")
}

// Of two clients one gets each message.
func sdkDeliversToOne(s *sdk.Stage) {
	const messages = 100
	publisher := s.Connect(sdk.Options{})
	first, second := s.Connect(sdk.Options{}), s.Connect(sdk.Options{})
	subs := []*sdk.Sub{first.Subscribe(s.Tenant, "jobs.*"), second.Subscribe(s.Tenant, "jobs.*")}
	for i := range messages {
		delivery := []string{"one-nearest", "one-random"}[i%2]
		publisher.Must(sdk.Command{
			Cmd: "publish", Tenant: s.Tenant, Channel: "jobs.a", Delivery: delivery, Payload: []byte(strconv.Itoa(i)),
		})
	}
	publisher.Publish(s.Tenant, "jobs.a", "end")
	var got []int
	for _, sub := range subs {
		before, count := -1, 0
		for {
			payload := string(sub.Next().Payload)
			if payload == "end" {
				break
			}
			n, err := strconv.Atoi(payload)
			if err != nil || n <= before {
				s.T.Fatalf("%s came after %d", payload, before)
			}
			before = n
			got = append(got, n)
			count++
		}
		if count < messages/10 { // 50 on average, with a deviation of 5
			s.T.Errorf("a client got %d of %d messages", count, messages)
		}
	}
	slices.Sort(got)
	for i, n := range got {
		if i != n {
			s.T.Fatalf("got %v, want each number once", got)
		}
	}
	if len(got) != messages {
		s.T.Fatalf("got %d messages, want %d", len(got), messages)
	}
}

// What an application does not read in time is dropped as it wishes, and it is
// told.
func sdkQueues(s *sdk.Stage) {
	const queue, messages = 4, 10
	c := s.Connect(sdk.Options{})
	held := map[string]*sdk.Sub{}
	for _, policy := range []string{"drop-oldest", "drop-newest", "end"} {
		held[policy] = c.SubscribeAs("held", s.Tenant, "q."+policy, &sdk.Options{Queue: queue, QueuePolicy: policy})
	}
	probe := c.Subscribe(s.Tenant, "q.*")
	for i := range messages {
		for policy := range held {
			c.Publish(s.Tenant, "q."+policy, strconv.Itoa(i))
		}
	}
	for range messages * len(held) {
		probe.Next()
	}
	c.Flush() // the client has handled all

	for policy, from := range map[string]int{"drop-oldest": messages - queue, "drop-newest": 0} {
		for dropped := 0; dropped < messages-queue; {
			e := c.EventThat("queueFull", func(r sdk.Report) bool { return r.Pattern == "q."+policy })
			if dropped += e.Dropped; e.Tenant != s.Tenant || e.Dropped < 1 || dropped > messages-queue {
				s.T.Fatalf("got %v, want %d dropped in all", e, messages-queue)
			}
		}
		held[policy].Read()
		for i := range queue {
			held[policy].Want(s.Tenant, "q."+policy, strconv.Itoa(from+i), "q."+policy, "q.*")
		}
		c.Publish(s.Tenant, "q."+policy, "more") // it goes on
		held[policy].Want(s.Tenant, "q."+policy, "more", "q."+policy, "q.*")
	}
	held["end"].Read()
	held["end"].WantEnd("queue_full")
	c.Never("disconnected")
}

// What the edge drops, since the client takes it too slowly, it counts.
func sdkSlowConsumer(s *sdk.Stage) {
	request := harness.TokenRequest(harness.AllowAll(s.Room))
	request["right"].(harness.Object)["egress_kb_per_sec"] = conformance.SlowEgress
	slow := s.Connect(sdk.Options{Token: s.Edges[0].IssueAs(s.Edges[0].Master, request).Token})
	sub := slow.Subscribe(s.Tenant, "#")
	publisher := s.Edges[0].Dial(s.Token())
	for i := range conformance.Flood {
		publisher.Publish(s.Tenant, "c", strconv.Itoa(i)+strings.Repeat(".", 900))
	}
	publisher.Ping()
	received, last := 0, -1
	for last < conformance.Flood-1 { // the oldest are dropped
		n, err := strconv.Atoi(strings.TrimRight(string(sub.Next().Payload), "."))
		if err != nil || n <= last {
			s.T.Fatalf("%d came after %d (%v)", n, last, err)
		}
		last = n
		received++
	}
	for lost := 0; lost < conformance.Flood-received; {
		if lost += slow.Event("slowConsumer").Dropped; lost > conformance.Flood-received {
			s.T.Errorf("told of %d lost messages, but got %d of %d", lost, received, conformance.Flood)
		}
	}
	if received == conformance.Flood {
		s.T.Error("nothing was dropped: this test does not test")
	}
	slow.Never("disconnected")
}

// Where a token has no rights, a subscription fails, and a publish is an event.
func sdkForbidden(s *sdk.Stage) {
	c := s.Connect(sdk.Options{Token: s.Edges[0].Issue(harness.Grant(s.Room, []string{"out.#"}, []string{"in.#"})).Token})
	_, err := c.TrySubscribe("iterate", s.Tenant, "out.x", nil)
	if err.ErrorCode() != "permission_denied" || err.Tenant != s.Tenant || err.Pattern != "out.x" {
		s.T.Errorf("subscribing: %+v, want permission_denied that names the pattern", err)
	}
	c.Publish(s.Tenant, "in.x", "no")
	if e := c.Event("publishError"); e.Code != "permission_denied" || e.Tenant != s.Tenant || e.Channel != "in.x" {
		s.T.Errorf("publishing: %v, want permission_denied that names the channel", e)
	}
	for _, illegal := range []sdk.Command{
		{Cmd: "publish", Tenant: s.Tenant, Channel: "a.*"},
		{Cmd: "publish", Tenant: "a b", Channel: "a"},
		{Cmd: "subscribe", Sub: "none", Mode: "held", Tenant: s.Tenant, Pattern: "*a"},
	} {
		_, err := c.Try(illegal)
		if want := []string{"bad_channel", "bad_tenant", "bad_pattern"}; !slices.Contains(want, err.ErrorCode()) {
			s.T.Errorf("%v: %v, want one of %q", illegal, err, want)
		}
	}
	c.Subscribe(s.Tenant, "in.#")
	c.Publish(s.Tenant, "out.x", "yes")
	c.Flush()
	c.Never("disconnected")
	if n := c.Count("publishError"); n != 1 {
		s.T.Errorf("%d events publishError, want one: %v", n, c.Events.Rest())
	}
}

package sdks

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

func connects(s *stage) {
	c := s.Connect(sdk.Options{KeepAlive: 200})
	if e := c.Event("connected"); e.Edge != s.Edges[0].HttpsURL("") || e.Transport != s.Kind.Transport {
		s.T.Errorf("got %v, want the edge %s", e, s.Edges[0].HttpsURL(""))
	}
	for range 2 {
		c.EventThat(func(r sdk.Report) bool { return r.RTT >= 0 }, "roundTrip")
	}
	c.Close()
	c.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "x"}, "closed")
	c.Never("disconnected", "reconnecting", "moving", "edgeError")
}

// Each subscription that matches gets each message, by whichever way it is read.
func messages(s *stage) {
	publisher, subscriber := s.Connect(sdk.Options{}), s.Connect(sdk.Options{})
	news := subscriber.Subscribe(s.Tenant, "news.*")
	all := subscriber.SubscribeAs("callback", s.Tenant, "#", nil)
	own := publisher.Subscribe(s.Tenant, "news.today")
	publisher.Publish(s.Tenant, "news.today", "Grüße")
	news.Want(s.Tenant, "news.today", "Grüße", "news.*", "#")
	all.Want(s.Tenant, "news.today", "Grüße", "#", "news.*")
	own.Want(s.Tenant, "news.today", "Grüße", "news.today") // publishers get their own, too

	news.Do("unsubscribe")
	news.WantEnd("")
	// The same pattern twice: two subscriptions, of which one may end.
	again := subscriber.Subscribe(s.Tenant, "#")
	publisher.Publish(s.Tenant, "news.today", "to both")
	all.Want(s.Tenant, "news.today", "to both", "#")
	again.Want(s.Tenant, "news.today", "to both", "#")
	all.Do("unsubscribe")
	publisher.Publish(s.Tenant, "y", "to one")
	again.Want(s.Tenant, "y", "to one", "#")
	all.WantNone()
	news.WantNone()
}

func payloads(s *stage) {
	c := s.Connect(sdk.Options{})
	sub := c.Subscribe(s.Tenant, "p")
	var bytes [256]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	all := []string{"text", string(bytes[:]), "", strings.Repeat("x", 60_000), "\x00", strings.Repeat("ü", 30_000)}
	for _, payload := range all {
		c.Publish(s.Tenant, "p", payload)
	}
	for _, payload := range all {
		sub.Want(s.Tenant, "p", payload, "p")
	}
	c.Never("publishError", "disconnected")
}

// Of two clients one gets each message, and both get some.
func deliversToOne(s *stage) {
	const total = 100
	publisher := s.Connect(sdk.Options{})
	subs := []*sdk.Sub{s.Connect(sdk.Options{}).Subscribe(s.Tenant, "jobs.*"), s.Connect(sdk.Options{}).Subscribe(s.Tenant, "jobs.*")}
	for i := range total {
		publisher.Must(sdk.Command{
			Cmd: "publish", Tenant: s.Tenant, Channel: "jobs.a", Delivery: []string{"one-nearest", "one-random"}[i%2], Payload: []byte(strconv.Itoa(i)),
		})
	}
	publisher.Publish(s.Tenant, "jobs.a", "end")
	var got []int
	for _, sub := range subs {
		before := len(got)
		for text := string(sub.Next().Payload); text != "end"; text = string(sub.Next().Payload) {
			n, err := strconv.Atoi(text)
			if err != nil || len(got) > before && n <= got[len(got)-1] {
				s.T.Fatalf("%s came after %d", text, got[len(got)-1])
			}
			got = append(got, n)
		}
		if len(got)-before < total/10 { // 50 on average, with a deviation of 5
			s.T.Errorf("a client got %d of %d messages", len(got)-before, total)
		}
	}
	slices.Sort(got)
	if len(got) != total || len(slices.Compact(got)) != total {
		s.T.Errorf("got %v, want each of %d numbers once", got, total)
	}
}

// What an application does not read in time is dropped as it wishes, and it is told.
func localQueues(s *stage) {
	const queue, total = 4, 10
	c := s.Connect(sdk.Options{})
	held := map[string]*sdk.Sub{}
	for _, policy := range []string{"drop-oldest", "drop-newest", "end"} {
		held[policy] = c.SubscribeAs("held", s.Tenant, "q."+policy, &sdk.Options{Queue: queue, QueuePolicy: policy})
	}
	for i := range total {
		for policy := range held {
			c.Publish(s.Tenant, "q."+policy, strconv.Itoa(i))
		}
	}
	c.Flush() // the client has handled all
	for policy, from := range map[string]int{"drop-oldest": total - queue, "drop-newest": 0} {
		for dropped := 0; dropped < total-queue; {
			e := c.EventThat(func(r sdk.Report) bool { return r.Pattern == "q."+policy }, "queueFull")
			if dropped += e.Dropped; e.Tenant != s.Tenant || e.Dropped < 1 || dropped > total-queue {
				s.T.Fatalf("got %v, want %d dropped in all", e, total-queue)
			}
		}
		held[policy].Do("read")
		for i := range queue {
			held[policy].Want(s.Tenant, "q."+policy, strconv.Itoa(from+i), "q."+policy)
		}
		c.Publish(s.Tenant, "q."+policy, "more") // it goes on
		held[policy].Want(s.Tenant, "q."+policy, "more", "q."+policy)
	}
	held["end"].Do("read")
	held["end"].WantEnd("queue_full")
	c.Never("disconnected")
}

// What the edge drops, since the client takes it too slowly, it counts.
func slowConsumer(s *stage) {
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
	told := 0
	for told < conformance.Flood-received {
		told += slow.Event("slowConsumer").Dropped
	}
	if lost := conformance.Flood - received; told != lost || lost == 0 {
		s.T.Errorf("told of %d lost messages; %d were, and some have to be", told, lost)
	}
	slow.Never("disconnected")
}

// Where a token has no rights, a subscription fails, and a publish is an event.
func forbidden(s *stage) {
	c := s.Connect(sdk.Options{Token: s.Edges[0].Issue(harness.Grant(s.Room, []string{"out.#"}, []string{"in.#"})).Token})
	_, subscribe := c.Subscription("iterate", s.Tenant, "out.x", nil)
	if err := c.Refused(subscribe, "permission_denied"); err.Tenant != s.Tenant || err.Pattern != "out.x" {
		s.T.Errorf("subscribing: %+v, want the names", err)
	}
	c.Publish(s.Tenant, "in.x", "no")
	if e := c.Event("publishError"); e.Code != "permission_denied" || e.Tenant != s.Tenant || e.Channel != "in.x" {
		s.T.Errorf("publishing: %v, want permission_denied, and the names", e)
	}
	c.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "a.*"}, "bad_channel")
	c.Refused(sdk.Command{Cmd: "publish", Tenant: "a b", Channel: "a"}, "bad_tenant")
	c.Refused(sdk.Command{Cmd: "subscribe", Sub: "none", Mode: "held", Tenant: s.Tenant, Pattern: "*a"}, "bad_pattern")
	c.Subscribe(s.Tenant, "in.#")
	c.Publish(s.Tenant, "out.x", "yes")
	c.Flush()
	c.Never("disconnected")
	if n := c.Count("publishError"); n != 1 {
		s.T.Errorf("%d events publishError, want one: %v", n, c.Events.Rest())
	}
}

// disconnect has the edge end the connections of a token.
func disconnect(s *stage, tokenID string) {
	s.T.Helper()
	s.Edges[0].AdminCall("POST", "/pubsub/connections/disconnect", harness.Object{"token_id": tokenID}).Decode(s.T, http.StatusOK, new(harness.Object))
}

// What an edge keeps, through losses of the connection and new clients: each message once and
// in order, or a gap is told.
func histories(s *stage) {
	channel := "chat." + s.Room
	past := s.Edges[0].Issue(history.AllowHistory(s.Room))
	publisher, c := s.Connect(sdk.Options{}), s.Connect(sdk.Options{Token: past.Token})
	var at []string
	publish := func(n int) {
		for range n {
			text := strconv.Itoa(len(at))
			at = append(at, publisher.Confirm(s.Tenant, channel, text, "key "+text))
		}
	}
	publish(5)
	if again := publisher.Confirm(s.Tenant, channel, "another", "key 4"); again != at[4] {
		s.T.Errorf("a repeated key: got the position %s, want %s", again, at[4])
	}
	publisher.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "other", Confirm: true, Key: "k"}, "no_history")

	sub := c.From(history.Last{Last: 3}, s.Tenant, channel)
	sub.WantStored(2, at[2:]...)
	disconnect(s, past.TokenID)
	c.Event("disconnected")
	publish(20)
	sub.WantStored(5, at[5:]...)
	if r := c.Event("reconnected"); !r.Complete {
		s.T.Errorf("got %v, want that nothing is missing", r)
	}
	if r := sub.Do("position"); r.Position != at[len(at)-1] {
		s.T.Errorf("the subscription is at %s, want %s", r.Position, at[len(at)-1])
	}
	c.Never("gap")

	// Another client goes on after a position, and gets later what it has no room for.
	other := s.Connect(sdk.Options{Token: past.Token})
	held := other.SubscribeAs("held", s.Tenant, "chat.#", &sdk.Options{History: history.After{After: at[1]}, Queue: 4})
	held.Do("read")
	held.WantStored(2, at[2:]...)
	other.From("last", s.Tenant, "chat.*").WantStored(len(at)-1, at[len(at)-1])
	other.Never("gap", "queueFull", "disconnected")

	// Without the right to the past it begins now, and tells of a gap; so it does from the
	// position of another store.
	present := s.Connect(sdk.Options{})
	now := present.From(history.Last{Last: 3}, s.Tenant, channel)
	present.EventThat(func(r sdk.Report) bool { return r.Tenant == s.Tenant && r.Pattern == channel }, "gap")
	publish(1)
	now.WantStored(len(at)-1, at[len(at)-1])
	lost := s.Connect(sdk.Options{Token: past.Token})
	lost.From(history.After{After: "00000000000000ff.1.1"}, s.Tenant, channel).WantStored(0, at...)
	lost.Event("gap")
	_, unkept := lost.Subscription("iterate", s.Tenant, "#", &sdk.Options{History: "now"})
	lost.Refused(unkept, "no_history")

	// A publish over the edge's read limit costs the connection, and is not repeated.
	publisher.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: channel, Payload: make([]byte, 200_000), Confirm: true, Key: "large"}, "payload_too_large")
	publisher.Confirm(s.Tenant, channel, "after it", "after it")
}

// Messages say who has published them to clients that ask, whatever their payload says, also
// those of a history.
func senders(s *stage) {
	as := func(subject string) *sdk.Client {
		s.T.Helper()
		request := harness.TokenRequest(history.AllowHistory(s.Room))
		if subject != "" {
			request["subject"] = subject
		}
		return s.Connect(sdk.Options{Token: s.Edges[0].IssueAs(s.Edges[0].Master, request).Token, Sender: true})
	}
	want := func(sub *sdk.Sub, payload, sender string) {
		s.T.Helper()
		if m := sub.Next(); string(m.Payload) != payload || m.Sender != sender {
			s.T.Errorf("%s: got %q from %q, want %q from %q", s.Kind, m.Payload, m.Sender, payload, sender)
		}
	}
	const forged = `{"sender":"ada"}`
	ada, zoë, nobody := as("ada"), as("Zoë *.#"), as("")
	live := ada.Subscribe(s.Tenant, "chat.*")
	unasked := s.Connect(sdk.Options{}).Subscribe(s.Tenant, "chat.a")
	zoë.Publish(s.Tenant, "chat.a", forged)
	want(live, forged, "Zoë *.#")
	want(unasked, forged, "")
	nobody.Publish(s.Tenant, "chat.a", forged)
	want(live, forged, "")
	zoë.Confirm(s.Tenant, "chat.b", forged, "key")
	want(live, forged, "Zoë *.#")
	want(ada.From(history.Last{Last: 1}, s.Tenant, "chat.b"), forged, "Zoë *.#")
	ada.Never("disconnected", "edgeError", "publishError")
}

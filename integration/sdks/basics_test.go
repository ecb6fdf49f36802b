package sdks

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// A client knows where it is, measures the round trip, and ends when it is told to. Without TLS
// beyond loopback its token could be read on the way.
func connects(s *stage) {
	c := s.Connect(sdk.Options{KeepAlive: 200})
	s.told(c, "connected", "", s.Edges[0].HttpsURL(""), s.Kind.Transport, c.Flush)
	c.EventThat(func(r sdk.Report) bool { return r.RTT >= 0 }, "roundTrip")
	c.Close()
	c.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "x"}, "closed")
	c.Never("disconnected", "reconnecting", "moving", "edgeError")
	s.Client().Refused(s.Connecting(s.Kind, sdk.Options{}, "http://192.0.2.1:8080"), "bad_option")
	if s.Kind.Transport == "websocket" { // WebTransport has TLS always
		s.Connect(sdk.Options{}, s.Edges[0].HttpURL("")).Flush()
	}
}

// Each subscription that matches gets each message, whatever it holds, by whichever way it is
// read.
func messages(s *stage) {
	publisher, subscriber := s.Connect(sdk.Options{}), s.Connect(sdk.Options{})
	news := subscriber.Subscribe(s.Tenant, "news.*")
	all := subscriber.SubscribeAs("callback", s.Tenant, "#", nil)
	own := publisher.Subscribe(s.Tenant, "news.today") // publishers get their own, too
	var bytes [256]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for _, payload := range []string{"Grüße", string(bytes[:]), "", strings.Repeat("x", 60_000), "\x00", strings.Repeat("ü", 30_000)} {
		publisher.Publish(s.Tenant, "news.today", payload)
		news.Want(s.Tenant, "news.today", payload, "news.*", "#")
		all.Want(s.Tenant, "news.today", payload, "#", "news.*")
		own.Want(s.Tenant, "news.today", payload, "news.today")
	}
	for _, delivery := range []string{"one-nearest", "one-random"} {
		publisher.Must(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "job", Delivery: delivery, Payload: []byte(delivery)})
		all.Want(s.Tenant, "job", delivery, "#")
	}
	news.Do("unsubscribe")
	news.WantEnd("")
	// The same pattern twice: two subscriptions, and one may end.
	again := subscriber.Subscribe(s.Tenant, "#")
	publisher.Publish(s.Tenant, "news.today", "to both")
	all.Want(s.Tenant, "news.today", "to both", "#")
	again.Want(s.Tenant, "news.today", "to both", "#")
	all.Do("unsubscribe")
	publisher.Publish(s.Tenant, "y", "to one")
	again.Want(s.Tenant, "y", "to one", "#")
	all.WantNone()
	news.WantNone()
	publisher.Never("publishError", "disconnected")
}

// What an application does not read in time is dropped as it wishes, and it is told.
func localQueues(s *stage) {
	c := s.Connect(sdk.Options{})
	last := c.Subscribe(s.Tenant, "last")
	for policy, kept := range map[string]string{"drop-oldest": "6789", "drop-newest": "0123", "end": ""} {
		held := c.SubscribeAs("held", s.Tenant, policy, &sdk.Options{Queue: 4, QueuePolicy: policy})
		for i := range 10 {
			c.Publish(s.Tenant, policy, strconv.Itoa(i))
		}
		c.Publish(s.Tenant, "last", "")
		_ = last.Next() // all before it have come, which Flush does not say
		held.Do("read")
		if policy == "end" {
			held.WantEnd("queue_full")
			continue
		}
		for dropped := 0; dropped != 6; { // in one event, or several
			ours := func(r sdk.Report) bool { return r.Tenant == s.Tenant && r.Pattern == policy }
			dropped += c.EventThat(ours, "queueFull").Dropped
		}
		for _, payload := range kept {
			held.Want(s.Tenant, policy, string(payload), policy)
		}
	}
	c.Never("disconnected")
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
	subscribe.Pattern = "*a"
	c.Refused(subscribe, "bad_pattern")
	c.Subscribe(s.Tenant, "in.#")
	c.Publish(s.Tenant, "out.x", "yes")
	c.Flush()
	if c.Never("disconnected"); c.Count("publishError") != 1 {
		s.T.Errorf("%d events publishError, want one", c.Count("publishError"))
	}
}

// What an edge keeps, through losses of the connection and new clients: each message once and
// in order, or a gap is told.
func histories(s *stage) {
	channel := "chat." + s.Room
	past := s.Edges[0].Issue(history.AllowHistory(s.Room)).Token
	publisher, c := s.Connect(sdk.Options{}), s.Connect(sdk.Options{Token: past})
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

	sub := c.SubscribeAs("iterate", s.Tenant, channel, &sdk.Options{History: history.Last{Last: 3}})
	sub.WantStored(2, at[2:]...)
	s.disconnect(past)
	c.Event("disconnected")
	publish(20)
	sub.WantStored(5, at[5:]...)
	if r := c.Event("reconnected"); !r.Complete {
		s.T.Errorf("got %v, want that nothing is missing", r)
	}
	if r := sub.Do("position"); r.Position != at[24] {
		s.T.Errorf("the subscription is at %s, want %s", r.Position, at[24])
	}

	// A client goes on after a position, also after one of another store.
	after := func(position string) *sdk.Options { return &sdk.Options{History: history.After{After: position}} }
	c.SubscribeAs("iterate", s.Tenant, "chat.#", after(at[1])).WantStored(2, at[2:]...)
	c.Never("gap")
	c.SubscribeAs("iterate", s.Tenant, "chat.*", after("00000000000000ff.1.1")).WantStored(0, at...)
	c.EventThat(func(r sdk.Report) bool { return r.Tenant == s.Tenant && r.Pattern == "chat.*" }, "gap")
}

// Messages say who has published them to clients that ask, whatever their payload says, also
// those of a history.
func senders(s *stage) {
	as := func(subject string) *sdk.Client {
		request := harness.TokenRequest(history.AllowHistory(s.Room))
		request["subject"] = subject
		return s.Connect(sdk.Options{Token: s.Edges[0].IssueAs(s.Edges[0].Master, request).Token, Sender: true})
	}
	const forged = `{"sender":"ada"}`
	ada, zoë, nobody := as("ada"), as("Zoë *.#"), s.Connect(sdk.Options{})
	live, unasked := ada.Subscribe(s.Tenant, "chat.*"), nobody.Subscribe(s.Tenant, "chat.b")
	nobody.Publish(s.Tenant, "chat.a", forged)
	nobody.Flush()
	zoë.Confirm(s.Tenant, "chat.b", forged, "key")
	stored := ada.SubscribeAs("iterate", s.Tenant, "chat.b", &sdk.Options{History: history.Last{Last: 1}})
	for i, sub := range []*sdk.Sub{live, live, unasked, stored} {
		want := []string{"", "Zoë *.#", "", "Zoë *.#"}[i]
		if m := sub.Next(); string(m.Payload) != forged || m.Sender != want {
			s.T.Errorf("%s: got %q from %q, want %q from %q", s.Kind, m.Payload, m.Sender, forged, want)
		}
	}
}

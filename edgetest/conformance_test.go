package edgetest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/wire"
)

// stage is where a case plays: publishers are at the far edge, which is the near one where
// there is one alone.
type stage struct {
	*testing.T
	near, far *edgetest.Edge
	transport client.Transport
}

// everywhere runs a case over both transports, on one edge and on two, each in a bubble of
// its own.
func everywhere(t *testing.T, run func(*stage), opts ...edgetest.Option) {
	for _, transport := range transports {
		for _, edges := range []string{"one edge", "two edges"} {
			t.Run(string(transport)+" "+edges, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					near := edgetest.New(t, opts...)
					s := &stage{t, near, near, transport}
					if edges == "two edges" {
						s.far = edgetest.New(t, append(opts, edgetest.Join(near))...)
					}
					run(s)
				})
			})
		}
	}
}

// fast has no caps.
var fast = edgetest.Limits(func(l *pubsub.Limits) { l.DefaultIngressKB, l.DefaultEgressKB = 1<<20, 1<<20 })

// all permits everything in the tenant.
func all(opts ...edgetest.TokenOption) []edgetest.TokenOption {
	return append([]edgetest.TokenOption{edgetest.Publish("#"), edgetest.Subscribe("#"), edgetest.ReadHistory("#"), edgetest.SeePresence("#")}, opts...)
}

// subscriber opens a session at the near edge, publisher one at the far edge.
func (s *stage) subscriber(opts ...edgetest.TokenOption) *session {
	s.Helper()
	return dial(s.T, s.near, s.transport, s.near.Token(all(opts...)...))
}

func (s *stage) publisher(opts ...edgetest.TokenOption) *session {
	s.Helper()
	return dial(s.T, s.far, s.transport, s.near.Token(all(opts...)...))
}

// What a client sends, and the answers, on a connection that stays open.
func TestLinesAndFrames(t *testing.T) {
	long, pattern256 := strings.Repeat("a", 129), "news."+strings.Repeat("b", 251)
	line1024 := "SUB:test:" + strings.Repeat("a", 1024-len("SUB:test:"))
	payload := strings.Repeat("p", 64<<10)
	everywhere(t, func(s *stage) {
		c := dial(s.T, s.near, s.transport, s.near.Token(edgetest.Publish("#"), edgetest.Subscribe("news.#"), edgetest.Right(func(r *tokenstore.Right) {
			r.TenantGrants = append(r.TenantGrants,
				tokenstore.TenantGrant{TenantIDs: []string{"~"}, AllowChannelsPub: []string{"#"}, AllowChannelsSub: []string{"#"}},
				tokenstore.TenantGrant{TenantIDs: []string{"read"}, AllowChannelsSub: []string{"#"}})
		})))
		for _, row := range []struct{ message, want string }{ // no want: nothing comes
			{"PING", "PONG"}, {"PING\n", "PONG"}, {"PING\r\n", "PONG"}, {"PONG", ""},
			{"SUB:test:news.*", "OK:SUB:test:news.*"},
			{"SUB:test:news.>\r\n", "OK:SUB:test:news.>"},
			{"SUB::x", "OK:SUB:~:x"},
			{"SUB:test:" + pattern256, "OK:SUB:test:" + pattern256},
			{"UNSUB:test:x", "OK:UNSUB:test:x"},
			{"UNSUB:other:x", "OK:UNSUB:other:x"},
			{"UNSUB::x", "OK:UNSUB:~:x"},
			{"UNSUB:test:news.*", "OK:UNSUB:test:news.*"}, {"UNSUB:test:news.>", "OK:UNSUB:test:news.>"},

			{"SUB:other:x", "ERR:permission_denied:SUB:other:x"},
			{"SUB:test:#", "ERR:permission_denied:SUB:test:#"},
			{"SUB:a room:x", "ERR:bad_tenant"}, {"SUB:" + long + ":x", "ERR:bad_tenant"}, {"UNSUB:a b:*a", "ERR:bad_tenant"},
			{"SUB:test:", "ERR:bad_pattern"}, {"SUB:test:*a", "ERR:bad_pattern"}, {"SUB:test:a#b", "ERR:bad_pattern"},
			{"SUB:test:#.a", "ERR:bad_pattern"}, {"SUB:test:>.a", "ERR:bad_pattern"}, {"SUB:test:a..b", "ERR:bad_pattern"},
			{"SUB:test:(a|b)", "ERR:bad_pattern"}, {"SUB:test:?", "ERR:bad_pattern"}, {"SUB:test:news:x", "ERR:bad_pattern"},
			{"SUB:test:" + pattern256 + "b", "ERR:bad_pattern"}, {"SUB:test:news" + strings.Repeat(".a", 32), "ERR:bad_pattern"},
			{"UNSUB:test:*a", "ERR:bad_pattern"}, {"SUB:test:news ", "ERR:bad_pattern"},
			{line1024, "ERR:bad_pattern"}, {line1024 + "\r\n", "ERR:bad_pattern"}, // they are understood

			{line1024 + "a", "ERR:bad_request"}, {"PING\n\n", "ERR:bad_request"}, {`{"action":"subscribe"}`, "ERR:bad_request"},
			{"PUB:test:news:hello", "ERR:bad_request"}, {"sub:test:news", "ERR:bad_request"}, {" PING", "ERR:bad_request"},
			{"SUB:test", "ERR:bad_request"}, {"OK:SUB:test:news", "ERR:bad_request"}, {"AUTH:AT_0_0", "ERR:bad_request"},

			{string(wire.AppendDeliver(nil, []byte("test"), []byte("news"), nil, []string{"news"})), "ERR:bad_frame"},
			{"\x03" + publish("news", "x"), "ERR:bad_frame"}, {"\x02\x03" + publish("news", "x"), "ERR:bad_frame"},
			{publish("", "")[:4], "ERR:bad_frame"}, {publish("news", "")[:9], "ERR:bad_frame"},
			{publishTo("a room", "news", "x"), "ERR:bad_tenant"}, {publishTo(long, "news", "x"), "ERR:bad_tenant"},
			{publish("news.*", "x"), "ERR:bad_channel"}, {publish("", "x"), "ERR:bad_channel"}, {publish(pattern256+"b", "x"), "ERR:bad_channel"},
			{publishTo("other", "news", "x"), "ERR:permission_denied:PUB:other:news"},
			{publishTo("read", "news", "x"), "ERR:permission_denied:PUB:read:news"},
			{publish("nobody.hears", "x"), ""}, {publish("nobody", payload), ""},
			{publish("news", payload+"p"), "ERR:payload_too_large:PUB:test:news"},
			{publishTo("", "x", payload+"p"), "ERR:payload_too_large:PUB:~:x"},
			{publish("news", payload+strings.Repeat("p", 4096-12)), "ERR:payload_too_large:PUB:test:news"}, // at the read limit
		} {
			c.send(row.message)
			if row.want != "" {
				c.expect(row.want)
			}
			c.ask("SUB:test:news.1") // ends the row of broken messages
		}
		c.quiet()
	}, fast)
}

// What ends a session.
func TestMessagesThatClose(t *testing.T) {
	over := strings.Repeat("a", 64<<10+4096+1)
	everywhere(t, func(s *stage) {
		for message, code := range map[string]int{
			"SUB:test:\xff": 1007, "PING\xe2\x82": 1007, over: 1009, publish("x", over): 1009,
		} {
			c := s.subscriber()
			_ = c.link.write([]byte(message)) // the edge may close before it has taken all
			c.expect(fmt.Sprintf("close %d", code))
		}
		c := s.subscriber()
		for range 8 {
			c.send("\x00", "{}")
			c.expect("ERR:bad_frame", "ERR:bad_request")
		}
		c.expect("close 1008") // 16 in a row
		c = s.subscriber()
		if err := c.link.leave(); err != nil {
			s.Fatal(err)
		}
		c.expect("close 1000")
	}, fast)
}

func TestSubscriptionLimit(t *testing.T) {
	everywhere(t, func(s *stage) {
		c := s.subscriber()
		for i := range 1024 {
			c.ask(fmt.Sprintf("SUB:test:c%d", i))
		}
		c.send("SUB:test:one.more")
		c.expect("ERR:too_many_subscriptions:SUB:test:one.more")
		c.ask("SUB:test:c0", "UNSUB:test:c0", "SUB:test:one.more") // again is no further one
	}, fast)
}

func TestTenants(t *testing.T) {
	everywhere(t, func(s *stage) {
		// One tenant's name begins with the other's, and with a channel's.
		red, blue := s.publisher(edgetest.In("red")), s.subscriber(edgetest.In("red.x"))
		both, none := s.subscriber(edgetest.In("red", "red.x")), s.subscriber(edgetest.In("~"))
		red.ask("SUB:red:#", "SUB:red:x.y")
		blue.ask("SUB:red.x:#")
		both.ask("SUB:red:y", "SUB:red.x:y")
		none.send("SUB::a.>")
		none.expect("OK:SUB:~:a.>")
		red.send(publishTo("red", "y", "1"), publishTo("red", "x.y", "2"))
		red.expect("red/y=1 [#]", "red/x.y=2 [# x.y]") // its own messages, too
		both.expect("red/y=1 [y]")
		blue.send(publishTo("red.x", "y", "3"))
		both.expect("red.x/y=3 [y]")
		blue.expect("red.x/y=3 [#]")
		blue.send(publishTo("red", "y", "forged"), "SUB:red:y")
		blue.expect("ERR:permission_denied:PUB:red:y", "ERR:permission_denied:SUB:red:y")
		none.send(publishTo("", "a.b", "4"), publishTo("~", "a.b", "5"))
		none.expect("~/a.b=4 [a.>]", "~/a.b=5 [a.>]")
		for _, c := range []*session{red, blue, both, none} {
			c.quiet()
		}
	})
}

// Each message goes to all subscribers, or to one of them, none of which is preferred.
func TestDeliverModes(t *testing.T) {
	everywhere(t, func(s *stage) {
		p := s.publisher()
		sockets := []*session{p, s.subscriber(), s.subscriber()}
		for _, c := range sockets {
			c.ask("SUB:test:jobs.*")
		}
		sockets[2].ask("SUB:test:#")
		const messages = 90
		for delivery, want := range map[wire.Delivery]int{wire.Broadcast: 3 * messages, wire.OneRandom: messages, wire.OneNearest: messages} {
			for i := range messages {
				p.send(tagged(delivery, "jobs.1", strconv.Itoa(i)))
			}
			first := p.untilPong() // by then the edge has all that was sent, however long QUIC takes
			synctest.Wait()
			total := 0
			for i, c := range sockets {
				got := c.untilPong()
				if c == p {
					got = append(first, got...)
				}
				before, n := -1, len(got)
				for _, m := range got {
					var at int
					if _, err := fmt.Sscanf(m, "test/jobs.1=%d ", &at); err != nil || at <= before {
						s.Fatalf("message %d came after %d: %v", at, before, err)
					}
					before = at
				}
				total += n
				if delivery == wire.OneRandom && (n < 8 || n > 60) || delivery == wire.Broadcast && n != messages {
					s.Errorf("%v: subscriber %d got %d of %d", delivery, i, n, messages)
				}
			}
			if total != want {
				s.Errorf("%v: %d deliveries, want %d", delivery, total, want)
			}
		}
	}, fast)
}

// An ingress cap slows a client down and loses nothing; an egress cap tells the client.
func TestCaps(t *testing.T) {
	everywhere(t, func(s *stage) {
		caps := func(in, out int) edgetest.TokenOption {
			return edgetest.Right(func(r *tokenstore.Right) { r.IngressKBPerSec, r.EgressKBPerSec = &in, &out })
		}
		p, fast := s.publisher(caps(8, 16384)), s.subscriber(caps(8, 16384))
		fast.ask("SUB:test:#")
		start := time.Now()
		payload := strings.Repeat("p", 1024-32-len(publish("c00", "")))
		go func() {
			for i := range 24 { // KiB, with their overhead
				_ = p.link.write([]byte(publish(fmt.Sprintf("c%02d", i), payload)))
			}
		}()
		for i := range 24 {
			fast.expect(fmt.Sprintf("test/c%02d=%s [#]", i, payload))
		}
		if took := time.Since(start); took < 2500*time.Millisecond || took > 2750*time.Millisecond { // what a quarter of a second allows passes at once
			s.Errorf("24 KiB at 8 KiB/s took %v", took)
		}

		slow, q := s.subscriber(caps(8, 1)), s.publisher(caps(16384, 1))
		slow.ask("SUB:test:#")
		start = time.Now()
		for i := range 5 {
			q.send(publish(strconv.Itoa(i), strings.Repeat(".", 900)))
		}
		told, n := 0, 0
		for n < 5 {
			if got := slow.next(); strings.HasPrefix(got, "ERR:egress_limited:") {
				told++
			} else if !strings.HasPrefix(got, fmt.Sprintf("test/%d=", n)) {
				s.Fatalf("got %.20q, want message %d", got, n)
			} else {
				n++
			}
		}
		if took := time.Since(start); told != 1 || took < 3*time.Second || took > 5*time.Second {
			s.Errorf("told %d times; 5 KiB at 1 KiB/s took %v", told, took)
		}
	})
}

package edgetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/tokenstore"
)

// A drain tells all clients to go elsewhere, spread over its first part, serves them until its
// end, and closes those that are left.
func TestDrain(t *testing.T) {
	everywhere(t, func(s *stage) {
		const clients = 20
		token := s.near.Token(all()...)
		p := s.publisher()
		var sessions [clients]*session
		for i := range sessions {
			sessions[i] = dial(s.T, s.near, s.transport, token)
			sessions[i].ask("SUB:test:x")
		}
		start := time.Now()
		drained := s.near.Drain()
		told, early := map[*session]bool{}, 0
		for tick := range 99 { // of 100 ms; the period has 10 s
			p.send(publish("x", "during the drain"))
			time.Sleep(100 * time.Millisecond)
			for _, c := range sessions {
				delivered := 0
				for len(c.got) > 0 {
					switch got := <-c.got; {
					case got == "RECONNECT" && !told[c] && tick < 40: // 6 s are left
						if told[c] = true; tick < 10 {
							early++
						}
					case got == "test/x=during the drain [x]":
						delivered++
					default:
						s.Fatalf("got %q in tick %d", got, tick)
					}
				}
				if delivered != 1 {
					s.Fatalf("%d deliveries in tick %d", delivered, tick)
				}
			}
			if tick == 50 {
				s.refuses("503 draining", "a newcomer", token)
			}
		}
		if len(told) != clients || early < 5 || early > 15 {
			s.Errorf("%d of %d were told, %d of them in the first half", len(told), clients, early)
		}
		for _, c := range sessions {
			c.expect("close 1001")
		}
		<-drained
		if took := time.Since(start); took < 10*time.Second || took > 12*time.Second { // WebTransport's farewell
			s.Errorf("the drain took %v", took)
		}
		<-s.near.Drain() // again changes nothing
	}, fast)
}

// A drain ends with the last client; few are told at once, however long it is.
func TestDrainEndsWithTheLastClient(t *testing.T) {
	everywhere(t, func(s *stage) {
		start := time.Now()
		sessions := []*session{s.subscriber(), s.subscriber()}
		drained := s.near.Drain()
		for _, c := range sessions {
			c.expect("RECONNECT")
			if err := c.link.leave(); err != nil {
				s.Fatal(err)
			}
			c.expect("close 1000")
		}
		<-drained
		if took := time.Since(start); took > 2*time.Second {
			s.Errorf("took %v", took)
		}
	}, edgetest.Drain(time.Hour))
}

// A client of WebTransport has 5 s to send its token; a handshake without one is bounded by
// number; a drain tells it at once.
func TestWebTransportAuth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := edgetest.New(t, edgetest.Region("EU"))
		await := func() *session {
			c, refused := openUnchecked(t, e, client.WebTransport, handshake{})
			if c == nil {
				t.Fatal(refused)
			}
			return c
		}
		start := time.Now()
		await().expect("ERR:unauthorized", "close 4401")
		if took := time.Since(start); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("a client without a token had %v", took)
		}
		limited := func(change func(*tokenstore.Right)) string { return "AUTH:" + e.Token(edgetest.Right(change)) }
		for line, want := range map[string][]string{
			"AUTH:" + e.Token(all()...): {"OK:AUTH"}, "AUTH:AT_x": {"ERR:unauthorized", "close 4401"}, "PING": {"ERR:unauthorized", "close 4401"},
			limited(func(r *tokenstore.Right) { r.AllowIPMasks = []string{"203.0.113.0/24"} }):       {"ERR:forbidden:ip", "close 4403"},
			limited(func(r *tokenstore.Right) { r.AllowedWSOrigin = []string{"https://a.example"} }): {"ERR:forbidden:origin", "close 4403"},
			limited(func(r *tokenstore.Right) { r.AllowRegions = []string{"US"} }):                   {"ERR:forbidden:region", "close 4403"},
			limited(func(r *tokenstore.Right) { r.AllowProtocols = []string{"websocket"} }):          {"ERR:forbidden:protocol", "close 4403"},
		} {
			c := await()
			c.send(line)
			c.expect(want...)
		}
		time.Sleep(10 * time.Second) // those that were refused have gone
		var waiting []*session
		for range 16 {
			waiting = append(waiting, await())
		}
		if _, refused := openUnchecked(t, e, client.WebTransport, handshake{}); refused != "429 too_many_unauthenticated" {
			t.Errorf("one more: %q", refused)
		}
		e.Drain()
		for _, c := range waiting {
			c.expect("close 1001")
		}
	})
}

package cluster

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

var overlayCaddyfile = strings.Replace(harness.DefaultCaddyfile, "\trespond \"no such page\" 404\n", "\tpubsub_edges\n\trespond \"no such page\" 404\n", 1)

// startCutOff is an overlay of which the third edge reaches NATS by a proxy.
func startCutOff(t *testing.T, store string) (*harness.Overlay, *natstest.Proxy) {
	t.Helper()
	o := &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 3, ", no_advertise: true")} // or the edge would find another way
	proxy := natstest.ProxyTo(t, strings.TrimPrefix(o.Nodes[2].URL(), "nats://"))
	o.StartEdges(overlayCaddyfile, harness.JoiningBy([]string{o.Nodes[0].URL(), o.Nodes[1].URL(), proxy.URL()}, 3, store))
	o.Token = o.Edges[0].Issue(harness.AllowAll("room")).Token
	return o, proxy
}

// An edge that is partitioned from the others continues alone, and rejoins them.
func TestPartedEdge(t *testing.T) {
	t.Parallel()
	o, proxy := startCutOff(t, "")
	sessions := o.Spread("news", "news", 0, 1, 1)
	near, parted := sessions[1][0], sessions[2][0]
	publisher, local := o.Session(0), o.Session(2)
	revoked, token := tokenAt(o, 0, 2)

	load := o.Stream("load", 0, 1, 2)
	parting := time.Now()
	proxy.Hold()
	o.Edges[2].ExpectMetrics(harness.Samples{"millrace_broker_up{broker=nats}": 0})
	publisher.Publish("paint.room", "news", "a")
	near.ExpectDeliver("paint.room", "news", "a", "news")
	publisher.Ping() // it was sent no ERR line
	for _, text := range []string{"x", "y"} {
		local.Publish("paint.room", "news", text)
		parted.ExpectDeliver("paint.room", "news", text, "news")
	}
	local.ExpectText("ERR:" + string(wire.CodeBrokerUnavailable)) // once
	local.Ping()
	late := o.Session(2) // handshakes go on
	late.SendLine("SUB:paint.room:late")
	late.ExpectText("ERR:" + string(wire.CodeBrokerUnavailable))
	late.ExpectText("OK:SUB:paint.room:late")
	o.Edges[0].Revoke(o.Edges[0].Master, token).Decode(t, http.StatusOK, new(harness.Object))
	for time.Since(parting) < harness.AtLength(0, 30*time.Second) { // under load
		local.Publish("paint.room", "load", harness.Beat) // local delivery goes on, and its listener waits long enough
		time.Sleep(time.Second)
	}
	revoked.Ping() // the edge cannot know

	healed := time.Now()
	proxy.Heal()
	expectRevoked(revoked)
	t.Logf("a token that was revoked meanwhile ended %v after the network was whole", time.Since(healed))
	reaches(o, publisher, "late", late) // interests came back by themselves
	t.Logf("messages come again after %v", time.Since(healed))
	publisher.Publish("paint.room", "news", "again")
	near.ExpectDeliver("paint.room", "news", "again", "news")
	parted.ExpectDeliver("paint.room", "news", "again", "news")
	local.Publish("paint.room", "news", "from there")
	near.ExpectDeliver("paint.room", "news", "from there", "news")
	end(load, t, 0)
}

// tokenAt issues a token at one edge, when its store is ready, and opens a session at another.
func tokenAt(o *harness.Overlay, from, to int) (s *harness.Socket, token string) {
	o.T.Helper()
	one := *o
	one.Token = awaitToken(o, from)
	return one.Session(to), one.Token
}

func expectRevoked(s *harness.Socket) {
	s.T.Helper()
	s.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
	s.ExpectClose(wire.CloseForbidden)
}

// An edge that cannot verify tokens for longer than max_stale serves nobody.
func TestStaleEdge(t *testing.T) {
	t.Parallel()
	o, proxy := startCutOff(t, "max_stale 10s")
	open, elsewhere := o.Session(2), o.Session(0)
	proxy.Hold()
	open.ExpectText("ERR:" + string(wire.CodeTokenUnverifiable))
	open.ExpectClose(wire.CloseTryLater)
	_, refused := o.Edges[2].Open(harness.Handshake{Token: o.Token})
	refused.Problem(t, http.StatusServiceUnavailable, "unavailable")
	elsewhere.Ping()
	proxy.Heal()
	o.Edges[2].Poll("a session at the edge", func() bool { return accepts(o.Edges[2], o.Token) })
}

// accepts reports whether an edge opens a session with a token.
func accepts(e *harness.Edge, token string) bool {
	return handshake(e, token) == http.StatusSwitchingProtocols
}

// handshake returns how an edge answers one with a token; 0: not at all.
func handshake(e *harness.Edge, token string) (status int) {
	s, a, err := e.TryOpen(harness.Handshake{Token: token})
	if err == nil && s != nil {
		_ = s.Cut()
	}
	return a.Status
}

// reaches publishes until a message arrives.
func reaches(o *harness.Overlay, from *harness.Socket, channel string, to *harness.Socket) {
	o.T.Helper()
	arrived := make(chan error, 1)
	go func() { // ends with the message, or the link's timeout
		_, _, err := to.Read()
		arrived <- err
	}()
	o.Edges[0].Poll("a message to arrive", func() bool {
		from.Publish("paint.room", channel, "are you there?") // the one before may have found nobody
		return len(arrived) > 0
	})
	o.Edges[0].Must(<-arrived)
}

// maxAge is how long after it was sent a message may come: 5 s (docs/clustering.md), and a
// second in which nobody looks. Only a soak has the machine for itself, and checks it.
const maxAge = 6 * time.Second

// end stops a stream: nothing may have come twice or in another order, and these listeners may
// have lost nothing. It says what the others have lost, and how late the rest was.
func end(s *harness.Stream, t *testing.T, complete ...int) {
	t.Helper()
	close(s.Stop)
	sent := <-s.Sent
	for i, c := range s.Heard {
		list := <-c
		var late []time.Duration
		gap, before := 0, -1
		for _, m := range list {
			if m.N <= before {
				t.Errorf("listener %d: %d came after %d", i, m.N, before)
			}
			late, gap, before = append(late, m.Late), max(gap, m.N-before-1), m.N
		}
		whole := slices.Contains(complete, i)
		if len(list) == 0 || whole && len(list) != sent {
			t.Errorf("listener %d got %d of %d messages", i, len(list), sent)
			continue
		}
		slices.Sort(late)
		t.Logf("listener %d lost %d of %d, at most %d in a row (%v); p50 %v, p99 %v, max %v", i, sent-len(list), sent, gap,
			time.Duration(gap)*harness.StreamEvery, late[len(late)/2], late[len(late)*99/100], late[len(late)-1])
		if harness.Soaking && whole && late[len(late)-1] > maxAge {
			t.Errorf("listener %d got a message after %v", i, late[len(late)-1])
		}
	}
}

// The death of a NATS server costs messages for as long as its edge needs to find another one.
// Nobody else notices.
func TestKilledNode(t *testing.T) {
	t.Parallel()
	o := history.StartOverlay(t, overlayCaddyfile, "")
	s := o.Stream("news", 0, 0, 1, 2)
	here, there := o.Session(1), o.Session(0)
	here.Subscribe("paint.room", "other")
	killed := time.Now()
	o.Nodes[1].Kill(t)
	reaches(o, there, "other", here)
	t.Logf("the edge of the killed server has messages again after %v", time.Since(killed))
	open, _ := tokenAt(o, 1, 2)
	open.Ping()
	t.Logf("tokens can be issued after %v", time.Since(killed))
	end(s, t, 0, 2)
}

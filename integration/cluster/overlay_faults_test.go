package cluster

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// startCutOff is an overlay of which the third edge reaches NATS by a cutter.
func startCutOff(t *testing.T, store string) (*harness.Overlay, *harness.Cutter) {
	t.Helper()
	o := &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 3, ", no_advertise: true")} // or the edge would find another way
	joins := harness.Joining(o.Nodes, store)
	proxy := harness.NewCutter(t, strings.TrimPrefix(o.Nodes[2].URL(), "nats://"))
	for i, join := range joins {
		options := []harness.Option{join}
		if i > 0 {
			options = append(options, harness.WithMaster(o.Edges[0]))
		}
		if i == 2 {
			options = append(options, func(e *harness.Edge) {
				e.Broker = strings.Replace(e.Broker, o.Nodes[2].URL(), proxy.Url(), 1)
				e.Store = strings.Replace(e.Store, o.Nodes[2].URL(), proxy.Url(), 1)
			})
		}
		o.Edges = append(o.Edges, harness.StartEdge(t, overlayCaddyfile, options...))
	}
	o.Token = o.Edges[0].Issue(harness.AllowAll("room")).Token
	return o, proxy
}

var overlayCaddyfile = strings.Replace(harness.DefaultCaddyfile, "\trespond \"no such page\" 404\n", "\tpubsub_edges\n\trespond \"no such page\" 404\n", 1)

// A token that is revoked at one edge ends its sessions at the others at once.
func TestRevocationOverEdges(t *testing.T) {
	revocations := harness.AtLength(100, 1000)
	t.Parallel()
	o := history.StartOverlay(t, harness.DefaultCaddyfile, "")
	var took []time.Duration
	for range revocations {
		token := o.Edges[0].Issue(harness.AllowAll("room")).Token
		one := *o
		one.Token = token
		sessions := []*harness.Socket{one.Session(1), one.Session(2), one.Session(0)}
		ends := make(chan time.Time, len(sessions))
		for _, s := range sessions {
			go func() { // ends with the session, or the link's timeout
				_ = s.UntilEnd()
				ends <- time.Now()
			}()
		}
		begin := time.Now()
		o.Edges[0].Revoke(o.Edges[0].Master, token).Decode(t, http.StatusOK, new(harness.Object))
		for range sessions {
			took = append(took, (<-ends).Sub(begin))
		}
	}
	slices.Sort(took)
	at := func(share float64) time.Duration { return took[int(share*float64(len(took)-1))] }
	t.Logf("%d revocations, sessions at three edges, from the request to the close: p50 %v, p99 %v, max %v",
		revocations, at(0.5), at(0.99), took[len(took)-1])
	if at(0.99) > harness.Promptly {
		t.Errorf("p99 %v, want a second at most", at(0.99))
	}
}

// partition is how long an edge is cut off.
var partition = harness.AtLength(10*time.Second, 30*time.Second)

// An edge that is partitioned from the others continues alone, and rejoins them.
func TestPartedEdge(t *testing.T) {
	t.Parallel()
	o, proxy := startCutOff(t, "")
	sessions := o.Spread("news", "news", 0, 1, 1)
	near, parted := sessions[1][0], sessions[2][0]
	publisher, local := o.Session(0), o.Session(2)

	doomed := o.Edges[0].Issue(harness.AllowAll("room")).Token
	one := *o
	one.Token = doomed
	revoked := one.Session(2)

	load := o.Stream("load", 0, 1, 2)
	time.Sleep(time.Second) // of load before
	parting := time.Now()
	proxy.Part()
	o.Edges[2].AwaitMetrics(func(m harness.Samples) string {
		if m["millrace_broker_up{broker=nats}"] != 0 {
			return "the edge has not noticed"
		}
		return ""
	})
	for i := range 100 {
		publisher.Publish("paint.room", "news", "a"+strconv.Itoa(i))
		near.ExpectDeliver("paint.room", "news", "a"+strconv.Itoa(i), "news")
	}
	publisher.Ping() // it has heard nothing of it
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
	o.Edges[0].Revoke(o.Edges[0].Master, doomed).Decode(t, http.StatusOK, new(harness.Object))
	for time.Since(parting) < partition { // under load
		local.Publish("paint.room", "load", harness.Beat) // local delivery goes on, and its listener waits long enough
		time.Sleep(time.Second)
	}
	revoked.Ping() // the edge cannot know

	healed := time.Now()
	proxy.Heal()
	revoked.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
	revoked.ExpectClose(wire.CloseForbidden)
	t.Logf("a token that was revoked meanwhile ended %v after the network was whole", time.Since(healed))
	reaches(o, publisher, "late", late) // interests came back by themselves
	t.Logf("messages come again after %v", time.Since(healed))
	publisher.Publish("paint.room", "news", "again")
	near.ExpectDeliver("paint.room", "news", "again", "news")
	parted.ExpectDeliver("paint.room", "news", "again", "news")
	local.Publish("paint.room", "news", "from there")
	near.ExpectDeliver("paint.room", "news", "from there", "news")
	time.Sleep(time.Second) // of load after
	sent, heard := end(load, t)
	for i, list := range heard {
		t.Logf("edge %d: %s", i+1, describe(sent, list))
	}
	if len(heard[0]) != sent {
		t.Errorf("the other edge lost %d messages", sent-len(heard[0]))
	}
}

// reaches publishes until a message arrives.
func reaches(o *harness.Overlay, from *harness.Socket, channel string, to *harness.Socket) {
	o.T.Helper()
	arrived := make(chan error, 1)
	go func() { // ends with the message, or the link's timeout
		_, _, err := to.Read()
		arrived <- err
	}()
	for {
		from.Publish("paint.room", channel, "are you there?")
		select {
		case err := <-arrived:
			if err != nil {
				o.T.Fatal(err)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// An edge that cannot verify tokens for longer than max_stale serves nobody.
func TestStaleEdge(t *testing.T) {
	t.Parallel()
	o, proxy := startCutOff(t, "max_stale 10s")
	open := o.Session(2)
	elsewhere := o.Session(0)
	begin := time.Now()
	proxy.Part()
	open.ExpectText("ERR:" + string(wire.CodeTokenUnverifiable))
	open.ExpectClose(wire.CloseTryLater)
	if took := time.Since(begin); took < 8*time.Second || took > harness.WaitTimeout {
		t.Errorf("it took %v, want about max_stale, 10s", took)
	}
	_, refused := o.Edges[2].Open(harness.Handshake{Token: o.Token})
	refused.Problem(t, http.StatusServiceUnavailable, "unavailable")
	elsewhere.Ping()
	proxy.Heal()
	o.Edges[2].Poll("a session at the edge", func() bool {
		s, _, err := o.Edges[2].TryOpen(harness.Handshake{Token: o.Token})
		return err == nil && s != nil
	})
}

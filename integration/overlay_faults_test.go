package integration

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// cutter is a TCP proxy before a NATS server, which can drop everything as a
// network does that is parted: without a word. It can also hold up what goes
// through.
type cutter struct {
	t        *testing.T
	listener net.Listener
	target   string

	mu  sync.Mutex
	cut bool
	late
	conns []net.Conn
	gone  sync.WaitGroup
}

func newCutter(t *testing.T, target string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{t: t, listener: l, target: target}
	c.gone.Go(c.accept)
	t.Cleanup(func() {
		l.Close()
		c.heal()
		c.gone.Wait()
	})
	return c
}

func (c *cutter) url() string { return "nats://" + c.listener.Addr().String() }

func (c *cutter) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.target)
		if err != nil {
			near.Close()
			continue
		}
		c.mu.Lock()
		c.conns = append(c.conns, near, far)
		c.mu.Unlock()
		c.gone.Go(func() { c.pipe(near, c.lateTo(far, &c.toServer)) })
		c.gone.Go(func() { c.pipe(far, c.lateTo(near, &c.toEdge)) })
	}
}

// pipe copies until either side ends. What comes while the network is parted is
// read and lost.
func (c *cutter) pipe(from net.Conn, to io.WriteCloser) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		c.mu.Lock()
		cut := c.cut
		c.mu.Unlock()
		if cut {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// late says how long a cutter holds things up.
type late struct{ toServer, toEdge time.Duration }

// lateWriter writes to a connection, each time as late as its cutter was then.
type lateWriter struct {
	c       *cutter
	late    *time.Duration
	waiting chan lateBytes
}

type lateBytes struct {
	due  time.Time
	data []byte
}

func (c *cutter) lateTo(to net.Conn, late *time.Duration) io.WriteCloser {
	w := lateWriter{c, late, make(chan lateBytes, 1<<12)}
	c.gone.Go(func() { // ends with Close
		for b := range w.waiting {
			time.Sleep(time.Until(b.due))
			_, _ = to.Write(b.data) // fails when it is closed
		}
		to.Close()
	})
	return w
}

func (w lateWriter) Write(data []byte) (int, error) {
	w.c.mu.Lock()
	late := *w.late
	w.c.mu.Unlock()
	w.waiting <- lateBytes{time.Now().Add(late), slices.Clone(data)}
	return len(data), nil
}

func (w lateWriter) Close() error {
	close(w.waiting)
	return nil
}

// delay holds up what is sent from now on.
func (c *cutter) delay(by late) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = by
}

func (c *cutter) part() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
}

// heal ends the connections on which something was lost, as TCP would in time,
// and lets new ones through.
func (c *cutter) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// startCutOff is an overlay of which the third edge reaches NATS by a cutter.
func startCutOff(t *testing.T, store string) (*overlay, *cutter) {
	t.Helper()
	o := &overlay{t: t, nodes: startNATS(t, 3, ", no_advertise: true")} // or the edge would find another way
	joins := joining(o.nodes, store)
	proxy := newCutter(t, strings.TrimPrefix(o.nodes[2].URL(), "nats://"))
	for i, join := range joins {
		options := []option{join}
		if i > 0 {
			options = append(options, withMaster(o.edges[0]))
		}
		if i == 2 {
			options = append(options, func(e *edge) {
				e.Broker = strings.Replace(e.Broker, o.nodes[2].URL(), proxy.url(), 1)
				e.Store = strings.Replace(e.Store, o.nodes[2].URL(), proxy.url(), 1)
			})
		}
		o.edges = append(o.edges, startEdge(t, overlayCaddyfile, options...))
	}
	o.token = o.edges[0].issue(allowAll("room")).Token
	return o, proxy
}

var overlayCaddyfile = strings.Replace(defaultCaddyfile, "\trespond \"no such page\" 404\n", "\tpubsub_edges\n\trespond \"no such page\" 404\n", 1)

// A token that is revoked at one edge ends its sessions at the others at once.
func TestRevocationOverEdges(t *testing.T) {
	t.Parallel()
	o := startOverlay(t, defaultCaddyfile, "")
	var took []time.Duration
	for range revocations {
		token := o.edges[0].issue(allowAll("room")).Token
		one := *o
		one.token = token
		sessions := []*socket{one.session(1), one.session(2), one.session(0)}
		ends := make(chan time.Time, len(sessions))
		for _, s := range sessions {
			go func() { // ends with the session, or the link's timeout
				_ = s.untilEnd()
				ends <- time.Now()
			}()
		}
		begin := time.Now()
		o.edges[0].revoke(o.edges[0].master, token).decode(t, http.StatusOK, new(object))
		for range sessions {
			took = append(took, (<-ends).Sub(begin))
		}
	}
	slices.Sort(took)
	at := func(share float64) time.Duration { return took[int(share*float64(len(took)-1))] }
	t.Logf("%d revocations, sessions at three edges, from the request to the close: p50 %v, p99 %v, max %v",
		revocations, at(0.5), at(0.99), took[len(took)-1])
	if at(0.99) > promptly {
		t.Errorf("p99 %v, want a second at most", at(0.99))
	}
}

// partition is how long an edge is cut off.
var partition = atLength(10*time.Second, 30*time.Second)

// An edge that is partitioned from the others continues alone, and rejoins them.
func TestPartedEdge(t *testing.T) {
	t.Parallel()
	o, proxy := startCutOff(t, "")
	sessions := o.spread("news", "news", 0, 1, 1)
	near, parted := sessions[1][0], sessions[2][0]
	publisher, local := o.session(0), o.session(2)

	doomed := o.edges[0].issue(allowAll("room")).Token
	one := *o
	one.token = doomed
	revoked := one.session(2)

	load := o.stream("load", 0, 1, 2)
	time.Sleep(time.Second) // of load before
	parting := time.Now()
	proxy.part()
	o.edges[2].awaitMetrics(func(m samples) string {
		if m["millrace_broker_up{broker=nats}"] != 0 {
			return "the edge has not noticed"
		}
		return ""
	})
	for i := range 100 {
		publisher.publish("paint.room", "news", "a"+strconv.Itoa(i))
		near.expectDeliver("paint.room", "news", "a"+strconv.Itoa(i), "news")
	}
	publisher.ping() // it has heard nothing of it
	for _, text := range []string{"x", "y"} {
		local.publish("paint.room", "news", text)
		parted.expectDeliver("paint.room", "news", text, "news")
	}
	local.expectText("ERR:" + string(wire.CodeBrokerUnavailable)) // once
	local.ping()
	late := o.session(2) // handshakes go on
	late.sendLine("SUB:paint.room:late")
	late.expectText("ERR:" + string(wire.CodeBrokerUnavailable))
	late.expectText("OK:SUB:paint.room:late")
	o.edges[0].revoke(o.edges[0].master, doomed).decode(t, http.StatusOK, new(object))
	for time.Since(parting) < partition { // under load
		local.publish("paint.room", "load", beat) // local delivery goes on, and its listener waits long enough
		time.Sleep(time.Second)
	}
	revoked.ping() // the edge cannot know

	healed := time.Now()
	proxy.heal()
	revoked.expectText("ERR:" + string(wire.CodeTokenRevoked))
	revoked.expectClose(wire.CloseForbidden)
	t.Logf("a token that was revoked meanwhile ended %v after the network was whole", time.Since(healed))
	o.reaches(publisher, "late", late) // interests came back by themselves
	t.Logf("messages come again after %v", time.Since(healed))
	publisher.publish("paint.room", "news", "again")
	near.expectDeliver("paint.room", "news", "again", "news")
	parted.expectDeliver("paint.room", "news", "again", "news")
	local.publish("paint.room", "news", "from there")
	near.expectDeliver("paint.room", "news", "from there", "news")
	time.Sleep(time.Second) // of load after
	sent, heard := load.end(t)
	for i, list := range heard {
		t.Logf("edge %d: %s", i+1, describe(sent, list))
	}
	if len(heard[0]) != sent {
		t.Errorf("the other edge lost %d messages", sent-len(heard[0]))
	}
}

// reaches publishes until a message arrives.
func (o *overlay) reaches(from *socket, channel string, to *socket) {
	o.t.Helper()
	arrived := make(chan error, 1)
	go func() { // ends with the message, or the link's timeout
		_, _, err := to.read()
		arrived <- err
	}()
	for {
		from.publish("paint.room", channel, "are you there?")
		select {
		case err := <-arrived:
			if err != nil {
				o.t.Fatal(err)
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
	open := o.session(2)
	elsewhere := o.session(0)
	begin := time.Now()
	proxy.part()
	open.expectText("ERR:" + string(wire.CodeTokenUnverifiable))
	open.expectClose(wire.CloseTryLater)
	if took := time.Since(begin); took < 8*time.Second || took > waitTimeout {
		t.Errorf("it took %v, want about max_stale, 10s", took)
	}
	_, refused := o.edges[2].open(handshake{Token: o.token})
	refused.problem(t, http.StatusServiceUnavailable, "unavailable")
	elsewhere.ping()
	proxy.heal()
	o.edges[2].poll("a session at the edge", func() bool {
		s, _, err := o.edges[2].tryOpen(handshake{Token: o.token})
		return err == nil && s != nil
	})
}

package load

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/pubsub"
	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/wire"
)

// Sessions from one address whose clients do not authenticate, and send all that
// they are allowed to send: there are so many and no more, and they do not stay.
func TestHostileArrivalsOfOneAddress(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := e.StartCalm()
	before := e.Memory()

	const crowd = "127.0.0.2"
	conns := make([]*quic.Conn, pubsub.MaxPendingPerIP)
	sessions := make([]*webtransport.Session, len(conns))
	for i := range conns {
		conns[i] = e.QuicFrom(crowd, nil)
	}
	one, other := e.QuicFrom(crowd, nil), e.QuicFrom("127.0.0.3", nil)
	for i, conn := range conns {
		sessions[i] = e.MustSession(conn, harness.Handshake{})
	}
	_, refused := e.OpenSession(one, harness.Handshake{})
	refused.Problem(t, 429, "too_many_unauthenticated")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	elsewhere := e.MustSession(other, harness.Handshake{})

	var speakers []*harness.Socket
	var filling sync.WaitGroup
	for i, session := range sessions {
		filling.Go(func() { fillWindows(session) })
		if i%2 == 0 {
			s := e.OnSession(conns[i], session)
			s.Must(s.Wt().WriteBytes(binary.BigEndian.AppendUint32(nil, wtconn.AuthBytes)))
			s.Must(s.Wt().WriteBytes(bytes.Repeat([]byte("A"), wtconn.AuthBytes-1)))
			speakers = append(speakers, s)
		}
	}
	filling.Wait()
	clients := len(conns) + 2
	e.CheckGrowth(before, clients*(harness.ConnectionCost+harness.ConnectionWindow), "16 sessions that do not authenticate")

	for _, s := range speakers {
		s.ExpectUnauthorized()
	}
	for _, session := range slices.Concat(sessions, []*webtransport.Session{elsewhere}) {
		harness.ExpectSessionEnd(t, session, wire.CloseUnauthorized)
	}
	for _, conn := range slices.Concat(conns, []*quic.Conn{other}) {
		harness.ExpectQUICEnd(t, conn)
	}
	// Now there is room again. A request that was refused has not ended its connection.
	late := e.MustSession(e.QuicFrom(crowd, nil), harness.Handshake{})
	harness.ExpectSessionEnd(t, late, wire.CloseUnauthorized)
	if err := one.Context().Err(); err != nil {
		t.Errorf("the connection of the request that was refused has ended: %v", err)
	}
	calm.Check()
	e.CheckRelease(before, clients)
}

// fillWindows sends on unidirectional streams until the edge grants no credit.
func fillWindows(session *webtransport.Session) {
	var filling sync.WaitGroup
	defer filling.Wait()
	var streams []*webtransport.SendStream
	for range 8 { // more than enough for the window of the connection
		stream, err := session.OpenUniStream()
		if err != nil {
			return
		}
		if _, err := stream.Write([]byte("S")); err != nil { // so that all have begun
			return
		}
		streams = append(streams, stream)
	}
	for _, stream := range streams {
		filling.Go(func() {
			_ = stream.SetWriteDeadline(time.Now().Add(time.Second)) // fails only with the session
			_, _ = stream.Write(make([]byte, 1<<20))                 // ends with the deadline, or the session
		})
	}
}

// So many sessions without authentication as an edge takes, from many addresses.
func TestHostileArrivalsOfManyAddresses(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := e.StartCalm()
	before := e.Memory()

	// Each address has one connection with all the sessions that it may have.
	const addresses = pubsub.MaxPending/pubsub.MaxPendingPerIP + 2
	crowds := make([]*crowd, addresses)
	for i := range crowds {
		conn := e.QuicFrom(fmt.Sprintf("127.0.1.%d", i+1), nil)
		crowds[i] = &crowd{conn: conn, client: e.SessionsOn(conn)}
	}
	begin := time.Now()
	var opening sync.WaitGroup
	for _, c := range crowds {
		opening.Go(func() { c.Open(harness.Handshake{URL: e.HttpsURL("/wt")}) })
	}
	opening.Wait()
	took := time.Since(begin)
	e.CheckGrowth(before, addresses*harness.ConnectionCost+pubsub.MaxPending*harness.SessionCost, "as many sessions as an edge takes")

	open, refused := 0, 0
	for _, c := range crowds {
		if c.err != nil && took < wtconn.AuthTimeout { // later, the first sessions end, and the connection with them
			t.Fatal(c.err)
		}
		open += len(c.sessions)
		for _, a := range c.refused {
			a.Problem(t, 503, "too_many_unauthenticated")
			if a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			refused++
		}
	}
	t.Logf("%d sessions opened and %d were refused in %v", open, refused, took)
	if took < wtconn.AuthTimeout && open != pubsub.MaxPending { // else the first have made room for others
		t.Errorf("%d sessions were open at the same time, want %d", open, pubsub.MaxPending)
	}
	for _, c := range crowds {
		for _, session := range c.sessions {
			if err := harness.AwaitSessionEnd(session); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
		}
		if len(c.sessions) > 0 {
			harness.ExpectQUICEnd(t, c.conn)
		}
	}
	calm.Check()
	e.CheckRelease(before, open)
}

// crowd is the connection of an address with many sessions.
type crowd struct {
	conn     *quic.Conn
	client   *webtransport.ClientConn
	sessions []*webtransport.Session
	refused  []harness.Answer
	err      error
}

func (c *crowd) Open(h harness.Handshake) {
	for range pubsub.MaxPendingPerIP {
		session, a, err := harness.DialSession(c.client, h)
		switch {
		case session != nil:
			c.sessions = append(c.sessions, session)
		case err == nil:
			c.refused = append(c.refused, a)
		default:
			c.err = err
			return
		}
	}
}

// huge announces a message of 4 GiB, less one byte.
var huge = []byte{0xff, 0xff, 0xff, 0xff}

// Clients that go about their first message in the wrong way, and what they say
// once they have authenticated.
func TestHostileFirstMessage(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := e.StartCalm()
	token := e.Issue(harness.AllowAll("room")).Token
	auth := "AUTH:" + token
	before := e.Memory()

	arrive := func() *harness.Socket {
		t.Helper()
		conn := e.QuicFrom("127.0.0.2", nil)
		return e.OnSession(conn, e.MustSession(conn, harness.Handshake{}))
	}
	for name, first := range map[string][]byte{
		"4 GiB":              append(huge[:4:4], auth...),
		"more than may come": binary.BigEndian.AppendUint32(nil, wtconn.AuthBytes+1),
		"a frame of 4 GiB":   append(huge[:4:4], 0x02),
		"another line":       wire.AppendMessage(nil, []byte("PING")),
		"nothing":            {0, 0, 0, 0},
		"a stale token":      wire.AppendMessage(nil, []byte("AUTH:AT_"+harness.RandomHex()+"_"+harness.RandomHex())),
	} {
		start := time.Now()
		s := arrive()
		s.Must(s.Wt().WriteBytes(first))
		s.ExpectUnauthorized()
		if took := time.Since(start); took >= wtconn.AuthTimeout {
			t.Errorf("%s: the edge waited %v for the rest of it", name, took)
		}
	}

	for _, admit := range []func() *harness.Socket{
		func() *harness.Socket { return e.DialWebTransport(token) },
		func() *harness.Socket {
			s := arrive()
			s.SendLine(auth)
			s.ExpectText("OK:AUTH")
			return s
		},
	} {
		s := admit()
		s.Ping()
		s.Must(s.Wt().WriteBytes(append(huge[:4:4], 0x02, 0x00)))
		s.ExpectClose(wire.CloseTooBig)
	}
	after := e.Memory()
	if allocated := after.Total - before.Total; allocated > 1<<20 { // a quarter of what one message announced
		t.Errorf("the edge allocated %d MiB for messages that never came", allocated>>10)
	}

	calm.Check()
	e.CheckRelease(before, 9)
}

// A client that sends its AUTH line slowly has no more time than others.
func TestHostileSlowAuthentication(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := e.StartCalm()
	line := wire.AppendMessage(nil, []byte("AUTH:"+e.Issue(harness.AllowAll("room")).Token))

	conn := e.QuicFrom("127.0.0.2", nil)
	s := e.OnSession(conn, e.MustSession(conn, harness.Handshake{}))
	sent := make(chan int, 1)
	go func() { // ends with the session, or the line
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		n := 0
		for n < len(line) && s.Wt().WriteBytes(line[n:n+1]) == nil {
			n++
			select {
			case <-tick.C:
			case <-s.Wt().Session.Context().Done():
			}
		}
		sent <- n
	}()
	s.ExpectUnauthorized()
	if n := <-sent; n == len(line) {
		t.Error("the edge waited for the whole line")
	}
	calm.Check()
}

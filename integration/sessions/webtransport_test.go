package sessions

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// What goes over WebTransport alone: tokens as lines, streams of subscriptions, several
// sessions of a connection, and what is no handshake. Package pubsub/webtransport has the rest.
func TestWebTransport(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.RegionalCaddyfile)
	one, two := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token

	t.Run("AUTH", func(t *testing.T) {
		e := e.With(t)
		for _, c := range []struct {
			token, want string
			code        wire.CloseCode
		}{
			{"AT_x", "ERR:unauthorized", wire.CloseUnauthorized},
			{e.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24"}}), "ERR:forbidden:ip", wire.CloseForbidden},
			{e.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example"}}), "ERR:forbidden:origin", wire.CloseForbidden},
			{e.Limited(harness.Object{"allow_regions": []string{"US"}}), "ERR:forbidden:region", wire.CloseForbidden},
			{e.Limited(harness.Object{"allow_protocols": []string{"websocket"}}), "ERR:forbidden:protocol", wire.CloseForbidden},
		} {
			s := e.MustOpenWebTransport(harness.Handshake{})
			s.SendLine("AUTH:" + c.token)
			s.ExpectText(c.want)
			s.ExpectClose(c.code)
		}
		s := e.MustOpenWebTransport(harness.Handshake{Header: http.Header{"X-Forwarded-For": {"203.0.113.5"}, "Origin": {"https://app.example"}}})
		s.SendLine("AUTH:" + e.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24"}, "allowed_ws_origin": []string{"https://app.example"}}))
		s.SendLine("SUB:paint.room:x") // what follows the line waits
		s.ExpectText("OK:AUTH")
		s.ExpectText("OK:SUB:paint.room:x")
		s.Fence()
	})

	t.Run("no handshake", func(t *testing.T) {
		e := e.With(t)
		_, refused := e.OpenWebTransport(harness.Handshake{Protocols: []string{"at." + one}})
		refused.Problem(t, http.StatusBadRequest, "bad_handshake")
		_, refused = e.OpenWebTransport(harness.Handshake{URL: e.HttpsURL("/wt?token=" + one), Token: one})
		refused.Problem(t, http.StatusBadRequest, "token_in_url")
		for _, client := range []http.RoundTripper{e.Http3(), e.Http2()} {
			got := roundTrip(e, client, "/wt", nil)
			got.Problem(t, http.StatusMethodNotAllowed, "method_not_allowed")
			harness.CheckAllow(t, got, "CONNECT")
		}
	})

	t.Run("streams of their own", func(t *testing.T) {
		e := e.With(t)
		s, publisher := e.DialWebTransport(one), e.Dial(one)
		lines := s.OpenLines()
		own := s.SubscribeOwn(lines, "paint.room", "x.*")
		s.Subscribe("paint.room", "#")
		lines.Send("SUB:D:paint.room:x.>\nUNSUB:U:other:x\n")
		s.ExpectText("OK:SUB:paint.room:x.>")
		s.ExpectText("OK:UNSUB:other:x")
		lines.Send("PING\n")
		s.ExpectText("ERR:bad_request")
		publisher.Publish("paint.room", "x.1", "both")
		harness.CheckDeliver(t, own.Next(), "paint.room", "x.1", "both", "x.*")
		s.ExpectDeliver("paint.room", "x.1", "both", "#", "x.>")
		lines.Send("UNSUB:U:paint.room:x.*\n")
		s.ExpectText("OK:UNSUB:paint.room:x.*")
		if message := own.Next(); message != nil {
			t.Errorf("got %q, want the end of the stream", message)
		}
		for range 20 { // datagrams and second streams are nothing
			s.Must(s.Wt().Session.SendDatagram([]byte("PING")))
			e.OpenStream(s.Wt().Session).CancelWrite(0)
		}
		s.Fence()
	})

	t.Run("sessions of one connection", func(t *testing.T) {
		e := e.With(t)
		conn := e.DialQUIC(nil)
		transport := &webtransport.Transport{Config: &webtransport.Config{MaxIncomingStreams: 4, MaxIncomingUniStreams: 32, MaxIncomingData: 1 << 20}} // without it there is one
		defer transport.Close()
		client, err := transport.NewClientConn(conn)
		if err != nil {
			t.Fatal(err)
		}
		var sockets []*harness.Socket
		for _, token := range []string{one, two, one} {
			session, a, err := harness.DialSession(client, harness.Handshake{URL: e.HttpsURL("/wt"), Token: token})
			if session == nil {
				t.Fatalf("got %d %s, %v; want a session", a.Status, a.Body, err)
			}
			sockets = append(sockets, e.OnSession(conn, session))
			sockets[len(sockets)-1].Subscribe("paint.room", "x")
		}
		e.Revoke(e.Master, two).Decode(t, http.StatusOK, new(harness.Object))
		sockets[1].ExpectText("ERR:token_revoked")
		sockets[1].ExpectClose(wire.CloseForbidden)
		sockets[2].Close()
		sockets[0].Publish("paint.room", "x", "still here")
		sockets[0].ExpectDeliver("paint.room", "x", "still here", "x")
		if got := roundTrip(e, client, "/ping", nil); string(got.Body) != "pong" {
			t.Errorf("GET /ping on the same connection: got %d %q", got.Status, got.Body)
		}
	})
}

// Browsers open no session where the settings of the edge do not agree with the draft that
// they know, and say nothing of the reason. Safari (26.4 and newer) needs WT_MAX_SESSIONS of
// at least 1; with more than 1, drafts 13 and 14 also want the three limits of flow control,
// of which none may be 0. From draft 15 on it is WT_ENABLED.
func TestWebTransportSettings(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
	defer cancel()
	conn := e.DialQUIC(nil)
	var reader *bufio.Reader
	next := func() uint64 {
		t.Helper()
		n, err := quicvarint.Read(reader)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for kind := uint64(1); kind != 0; kind = next() { // until the control stream: RFC 9114, section 6.2.1
		stream, err := conn.AcceptUniStream(ctx)
		if err != nil {
			t.Fatalf("no control stream: %v", err)
		}
		reader = bufio.NewReader(stream)
	}
	if kind := next(); kind != 4 { // section 7.2.4
		t.Fatalf("the control stream begins with a frame of type %#x, want SETTINGS", kind)
	}
	settings := map[uint64]uint64{}
	for left := int(next()); left > 0; {
		setting, value := next(), next()
		settings[setting] = value
		left -= quicvarint.Len(setting) + quicvarint.Len(value)
	}
	for setting, want := range map[uint64]uint64{
		0x06:       16 << 10, // the longest header
		0x08:       1,        // extended CONNECT: RFC 9220, section 3
		0x33:       1,        // datagrams: RFC 9297, section 2.1.1
		0x2b603742: 1,        // ENABLE_WEBTRANSPORT of drafts 2 to 6, for Chromium and Firefox
		0x2c7cf000: 1,        // WT_ENABLED of draft 15 and later
		wtSessions: 1<<62 - 1, wtData: 1 << 20, wtUni: 16, wtBidi: 8,
	} {
		if got, ok := settings[setting]; !ok || got != want {
			t.Errorf("%#x: got %d (sent: %v), want %d", setting, got, ok, want)
		}
		delete(settings, setting)
	}
	for setting, value := range settings { // 0x21 + 0x1f·n is reserved, to be ignored
		if setting < 0x21 || (setting-0x21)%0x1f != 0 {
			t.Errorf("the edge sends the setting %#x, with %d: say here what it is for, and which browsers know it", setting, value)
		}
	}
}

// The settings of drafts 13 and 14 of draft-ietf-webtrans-http3, for Safari:
// WT_MAX_SESSIONS, and WT_INITIAL_MAX_DATA, _STREAMS_UNI and _STREAMS_BIDI.
const wtSessions, wtData, wtUni, wtBidi = 0x14e9cd29, 0x2b61, 0x2b64, 0x2b65

// A client with the settings and the :protocol that Safari is known to send gets a session,
// and may open its stream.
func TestWebTransportOfDraft14(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	transport := &http3.Transport{EnableDatagrams: true, AdditionalSettings: map[uint64]uint64{wtSessions: 1, wtBidi: 100, wtUni: 100, wtData: 1 << 20}}
	conn := e.DialQUIC(nil)
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
	defer cancel()
	request, err := transport.NewClientConn(conn).OpenRequestStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(e.HttpsURL("/wt"))
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Origin": {e.HttpsURL("")}}
	if err := request.SendRequestHeader(&http.Request{Method: http.MethodConnect, Proto: "webtransport", URL: u, Host: u.Host, Header: header}); err != nil {
		t.Fatal(err)
	}
	if response, err := request.ReadResponse(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", response, err)
	}
	stream, err := conn.OpenStreamSync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	line := "AUTH:" + e.Issue(harness.AllowAll("room")).Token
	first := quicvarint.Append(quicvarint.Append(nil, 0x41), uint64(request.StreamID())) // WT_STREAM
	if _, err := stream.Write(append(binary.BigEndian.AppendUint32(first, uint32(len(line))), line...)); err != nil {
		t.Fatal(err)
	}
	if answer, err := harness.ReadMessage(stream); err != nil || string(answer) != "OK:AUTH" {
		t.Fatalf("got %q, %v, want OK:AUTH", answer, err)
	}
}

// mutable is a UDP socket that can be muted: its packets then do not reach the network.
type mutable struct {
	net.PacketConn
	muted atomic.Bool
}

func (m *mutable) WriteTo(packet []byte, to net.Addr) (int, error) {
	if m.muted.Load() {
		return len(packet), nil
	}
	return m.PacketConn.WriteTo(packet, to)
}

// After 30 s the edge forgets a client that vanishes, or sooner if the client has announced a
// shorter idle timeout: so that this test need not wait so long.
func TestWebTransportSilentClient(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	socket := &mutable{PacketConn: udp}
	transport := &quic.Transport{Conn: socket}
	defer transport.Close()
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
	defer cancel()
	conn, err := transport.Dial(ctx, e.UdpAddress(), e.QuicTLS(), &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, MaxIdleTimeout: harness.AtLength(5*time.Second, time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	session, _ := e.OpenSession(conn, harness.Handshake{Token: e.Issue(harness.AllowAll("room")).Token})
	e.OnSession(conn, session).Ping()
	socket.muted.Store(true)
	begin := time.Now()
	for limit := begin.Add(2 * time.Minute); e.Metrics()["millrace_connections{transport=webtransport}"] > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the edge has not forgotten the client after two minutes")
		}
	}
	if took := time.Since(begin); took < 3*time.Second {
		t.Errorf("the edge forgot the client after %v", took)
	}
}

package edgetest_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/wire"
)

var transports = []client.Transport{client.WebSocket, client.WebTransport}

// session is what a client of the protocol sees, without the SDK. What the edge sends is text:
// a line as it is, a message as "tenant/channel=payload [patterns]", the end as "close 4403".
type session struct {
	t     *testing.T
	link  link
	got   chan string
	gate  chan struct{} // full while nothing is read
	abort func()
}

type link interface {
	write(message []byte) error
	read() ([]byte, error)
	end(error) string // of the session, after an error of read
	leave() error
}

// handshake is one attempt to open a session.
type handshake struct {
	token  string // empty: none is sent
	from   string // the client's address; empty: edgetest.ClientAddress
	header http.Header
}

// open opens a session that the edge knows all of, or returns the status and the code of the
// refusal.
func open(t *testing.T, e *edgetest.Edge, transport client.Transport, h handshake) (*session, string) {
	t.Helper()
	s, refused := openUnchecked(t, e, transport, h)
	if s != nil {
		s.send("PING")
		s.expect("PONG") // its stream has arrived
	}
	return s, refused
}

func openUnchecked(t *testing.T, e *edgetest.Edge, transport client.Transport, h handshake) (*session, string) {
	t.Helper()
	if h.from == "" {
		h.from = edgetest.ClientAddress
	}
	network := e.Network(h.from)
	header := h.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if h.token != "" {
		header.Set("Authorization", "Bearer "+h.token)
	}
	dial := dialWebSocket
	if transport == client.WebTransport {
		dial = dialWebTransport
	}
	l, abort, res, err := dial(e, network, header)
	if err != nil {
		if res == nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var problem struct{ Code string }
		if err := json.NewDecoder(res.Body).Decode(&problem); err != nil {
			t.Fatal(err)
		}
		return nil, fmt.Sprint(res.StatusCode, " ", problem.Code)
	}
	s := &session{t: t, link: l, got: make(chan string, 1<<17), gate: make(chan struct{}, 1), abort: abort}
	t.Cleanup(abort)
	go s.pump() // ends with the session, at the end of the test at the latest
	return s, ""
}

// dial opens the session of a client that has to be accepted.
func dial(t *testing.T, e *edgetest.Edge, transport client.Transport, token string) *session {
	t.Helper()
	s, refused := open(t, e, transport, handshake{token: token})
	if s == nil {
		t.Fatalf("refused with %s", refused)
	}
	return s
}

func (s *session) pump() {
	for {
		message, err := s.link.read()
		if err != nil {
			s.got <- s.link.end(err)
			return
		}
		s.gate <- struct{}{}
		s.got <- describe(message)
		<-s.gate
	}
}

// hold stops reading after the next message, until release.
func (s *session) hold() (release func()) {
	s.gate <- struct{}{}
	return func() { <-s.gate }
}

func describe(message []byte) string {
	if !wire.IsFrame(message) {
		return string(message)
	}
	d, err := wire.DecodeDeliver(message)
	if err != nil {
		return fmt.Sprintf("%x", message)
	}
	slices.Sort(d.Patterns)
	text := fmt.Sprintf("%s/%s=%s %v", d.Tenant, d.Channel, d.Payload, d.Patterns)
	if d.ToOne {
		text += " to one"
	}
	return text
}

const nothing = "nothing in a minute"

// next returns what comes next, within a minute.
func (s *session) next() string {
	select {
	case got := <-s.got:
		return got
	case <-time.After(time.Minute):
		return nothing
	}
}

func (s *session) expect(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if got := s.next(); got != w {
			s.t.Fatalf("got %.200q, want %.200q", got, w)
		}
	}
}

// untilPong sends PING, and returns what comes before the answer.
func (s *session) untilPong() (list []string) {
	s.t.Helper()
	s.send("PING")
	for got := s.next(); got != "PONG"; got = s.next() {
		if list = append(list, got); got == nothing {
			s.t.Fatalf("got no PONG, but %.200q", list)
		}
	}
	return list
}

// quiet requires that nothing more has come: everything is answered when all is at rest.
func (s *session) quiet() {
	s.t.Helper()
	synctest.Wait()
	if len(s.got) > 0 {
		s.t.Fatalf("got %.200q, want nothing", <-s.got)
	}
}

// send sends messages, lines or frames.
func (s *session) send(messages ...string) {
	s.t.Helper()
	for _, m := range messages {
		if err := s.link.write([]byte(m)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// ask sends lines and requires the answer OK: to each.
func (s *session) ask(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		s.send(line)
		s.expect("OK:" + line)
	}
}

func publish(channel, payload string) string { return publishTo("test", channel, payload) }

func publishTo(tenant, channel, payload string) string {
	return string(wire.AppendPublish(nil, wire.Publish{Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload)}))
}

func tagged(delivery wire.Delivery, channel, payload string) string {
	return string(wire.AppendPublish(nil, wire.Publish{
		Tagged: true, Delivery: delivery, Tenant: []byte("test"), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

type webSocket struct{ *websocket.Conn }

func dialWebSocket(e *edgetest.Edge, network *client.Network, header http.Header) (link, func(), *http.Response, error) {
	dialer := websocket.Dialer{NetDialContext: network.Dial, TLSClientConfig: e.TLS()}
	conn, res, err := dialer.Dial("wss"+strings.TrimPrefix(e.URL(), "https")+"/ws", header)
	if err != nil {
		return nil, nil, res, err
	}
	return webSocket{conn}, func() { _ = conn.NetConn().Close() }, nil, nil
}

func (w webSocket) write(message []byte) error {
	if wire.IsFrame(message) {
		return w.WriteMessage(websocket.BinaryMessage, message)
	}
	return w.WriteMessage(websocket.TextMessage, message)
}

func (w webSocket) read() ([]byte, error) {
	_, message, err := w.ReadMessage()
	return message, err
}

func (w webSocket) end(err error) string {
	_ = w.Close()
	if end := new(websocket.CloseError); errors.As(err, &end) && end.Code != websocket.CloseAbnormalClosure {
		return fmt.Sprintf("close %d", end.Code)
	}
	return "broken: " + err.Error()
}

func (w webSocket) leave() error {
	return w.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Minute))
}

type webTransport struct {
	quic    *quic.Conn
	session *webtransport.Session
	stream  *webtransport.Stream
}

func dialWebTransport(e *edgetest.Edge, network *client.Network, header http.Header) (link, func(), *http.Response, error) {
	ctx := context.Background()
	socket, to, err := network.DialPacket(ctx, strings.TrimPrefix(e.URL(), "https://")+":443")
	if err != nil {
		return nil, nil, nil, err
	}
	tls := e.TLS()
	tls.ServerName, tls.NextProtos = strings.TrimPrefix(e.URL(), "https://"), []string{http3.NextProtoH3}
	conn, err := quic.Dial(ctx, socket, to, tls, &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200, KeepAlivePeriod: 10 * time.Second})
	if err != nil {
		return nil, nil, nil, errors.Join(err, socket.Close())
	}
	context.AfterFunc(conn.Context(), func() { _ = socket.Close() })
	abort := func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") }
	h3, err := (&webtransport.Transport{ApplicationProtocols: []string{wire.Subprotocol}}).NewClientConn(conn)
	if err != nil {
		return nil, abort, nil, err
	}
	res, opened, err := h3.Dial(ctx, e.URL()+"/wt", header)
	if err != nil {
		context.AfterFunc(ctx, abort)
		return nil, abort, res, err
	}
	stream, err := opened.OpenStreamSync(ctx)
	if err == nil {
		_, err = stream.Write(nil)
	}
	return &webTransport{conn, opened, stream}, abort, nil, err
}

func (w *webTransport) write(message []byte) error {
	_, err := w.stream.Write(wire.AppendMessage(nil, message))
	return err
}

func (w *webTransport) read() ([]byte, error) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(w.stream, length); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint32(length))
	_, err := io.ReadFull(w.stream, message)
	return message, err
}

func (w *webTransport) end(err error) string {
	if errors.Is(err, io.EOF) {
		w.stream.CancelWrite(0) // all is read
	}
	<-w.session.Context().Done()
	_, err = w.session.OpenStream()
	if end := new(webtransport.SessionError); errors.As(err, &end) && end.Remote {
		return fmt.Sprintf("close %d", end.ErrorCode)
	}
	return "broken: " + err.Error()
}

func (w *webTransport) leave() error { return w.stream.Close() }

package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// scriptWT starts an edge that serves WebTransport alone, and returns its origin.
func (n *internet) scriptWT(serve func(s *webtransport.Server, w http.ResponseWriter, r *http.Request)) (origin string) {
	n.t.Helper()
	n.script(http.NotFound) // whose certificate it has
	at := n.address()
	socket, err := n.ListenPacket(at)
	must(n.t, err)
	server := &webtransport.Server{ApplicationProtocols: []string{wire.Subprotocol}}
	mux := http.NewServeMux()
	mux.HandleFunc("/wt", func(w http.ResponseWriter, r *http.Request) {
		equal(n.t, "Authorization", r.Header.Get("Authorization"), "Bearer AT_a")
		serve(server, w, r)
	})
	server.H3 = &http3.Server{
		TLSConfig:  http3.ConfigureTLSConfig(&tls.Config{Certificates: n.own}),
		QUICConfig: &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200},
		Handler:    mux,
	}
	webtransport.ConfigureHTTP3Server(server.H3)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(socket) }) // until it is closed
	n.t.Cleanup(func() {
		server.Close()
		socket.Close()
		serving.Wait()
	})
	return "https://" + at.String()
}

// accept gives the session and its stream to f.
func accept(t *testing.T, f func(session *webtransport.Session, stream *webtransport.Stream)) func(*webtransport.Server, http.ResponseWriter, *http.Request) {
	return func(s *webtransport.Server, w http.ResponseWriter, r *http.Request) {
		session, err := s.Upgrade(w, r)
		if err == nil {
			var stream *webtransport.Stream
			if stream, err = session.AcceptStream(r.Context()); err == nil {
				f(session, stream)
				return
			}
		}
		t.Error(err)
	}
}

func TestWebTransport(t *testing.T) {
	overIt := func(o *Options) { o.Transports = nil }
	bubble(t, "messages of all sizes, and a close code", func(t *testing.T, w *world) {
		n := newInternet(t)
		edge := n.scriptWT(accept(t, func(session *webtransport.Session, stream *webtransport.Stream) {
			reader, buf := bufio.NewReader(stream), []byte(nil)
			for {
				m, err := readMessage(reader, &buf)
				if err != nil {
					_ = session.CloseWithError(1000, "") // the client has left
					return
				}
				answer := append([]byte("OK:"), m...)
				switch {
				case wire.IsFrame(m):
					p, err := wire.DecodePublish(m)
					noError(t, err)
					if string(p.Payload) == "end" {
						_ = session.CloseWithError(4429, "too slow")
						return
					}
					answer = wire.AppendDeliver(nil, p.Tenant, p.Channel, p.Payload, []string{"x"})
				case string(m) == "PING":
					answer = []byte("PONG")
				}
				if _, err := stream.Write(wire.AppendMessage(nil, answer)); err != nil {
					return
				}
			}
		}))
		c := n.mustConnect(func(o *Options) { overIt(o); w.told(o) }, edge)
		equal(t, "transport", c.Transport(), WebTransport)
		s := mustSubscribe(t, c, "x")
		for _, size := range []int{0, 1, 16 << 10, 64 << 10, 1 << 20, 2} {
			want := strings.Repeat("a", size)
			publish(t, c, want)
			if got := payloads(t, s, 1)[0]; got != want {
				t.Errorf("%d bytes, want %d", len(got), size)
			}
		}
		publish(t, c, "end")
		equal(t, "close code", event[Disconnected](w).Err.(*Error).Close, 4429)
		equal(t, "transport", event[Reconnected](w).Transport, WebTransport)
	})
	bubble(t, "refused", func(t *testing.T, _ *world) {
		n := newInternet(t)
		edge := n.scriptWT(func(_ *webtransport.Server, w http.ResponseWriter, r *http.Request) {
			refuse(403, "origin_not_allowed", "because")(w, r)
		})
		_, err := n.connect(overIt, edge)
		var got *Error
		if !errors.Is(err, ErrOriginNotAllowed) || !errors.As(err, &got) || got.Status != 403 || !strings.HasPrefix(got.Text, "because") {
			t.Errorf("got %v", err)
		}
	})
	bubble(t, "where nothing answers by UDP, WebSocket takes over", func(t *testing.T, _ *world) {
		equal(t, "transport", newInternet(t).client(overIt, polite).Transport(), WebSocket)
	})
	// The edge waits for that before it ends the session.
	bubble(t, "a client that has read the stream's end says so", func(t *testing.T, _ *world) {
		n := newInternet(t)
		edge := n.scriptWT(accept(t, func(session *webtransport.Session, stream *webtransport.Stream) {
			_, err := io.ReadFull(stream, wire.AppendMessage(nil, []byte(wire.LineFeatures+furtherFeatures)))
			noError(t, err)
			_, err = stream.Write(wire.AppendMessage(nil, []byte("ERR:token_revoked")))
			noError(t, err)
			stream.Close()
			var end *webtransport.StreamError
			if _, err := stream.Read(make([]byte, 1)); !errors.As(err, &end) || !end.Remote {
				t.Errorf("got %v", err)
			}
			_ = session.CloseWithError(4403, "token_revoked")
		}))
		c := n.mustConnect(overIt, edge)
		<-c.Done()
		var why *Error
		if !errors.As(c.Err(), &why) || why.Code != "token_revoked" || why.Close != 4403 {
			t.Errorf("ended with %v", c.Err())
		}
	})
}

func TestReadMessage(t *testing.T) {
	var stream []byte
	messages := []string{"", "a", strings.Repeat("b", 16), strings.Repeat("c", 17), strings.Repeat("d", 5000), "e"}
	for _, m := range messages {
		stream = wire.AppendMessage(stream, []byte(m))
	}
	read := func(stream []byte) (got []string, err error) {
		r, buf := bufio.NewReaderSize(bytes.NewReader(stream), 16), []byte(nil)
		for {
			m, err := readMessage(r, &buf)
			if err != nil {
				return got, err
			}
			got = append(got, string(m))
		}
	}
	for n := range stream {
		got, _ := read(stream[:n])
		if len(got) >= len(messages) {
			t.Fatalf("%d bytes of %d give all messages", n, len(stream))
		}
	}
	if got, _ := read(stream); fmt.Sprint(got) != fmt.Sprint(messages) {
		t.Errorf("got %q", got)
	}
	wantError(t, errorOf(read([]byte{0xff, 0, 0, 0})), ErrProtocol)
}

// The first packet passes a tunnel whose MTU is 1,280 (docs/networks.md).
func TestFirstPacketOfWebTransport(t *testing.T) {
	t.Parallel()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	defer socket.Close()
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Token: "AT_a", Transports: []Transport{WebTransport}}
	done := async(func() error { return errorOf(Connect(ctx, []string{"https://" + socket.LocalAddr().String()}, o)) })
	size, _, err := socket.ReadFrom(make([]byte, 2000))
	noError(t, err)
	equal(t, "bytes of the first packet", size, 1200)
	cancel()
	wantError(t, <-done, context.Canceled)
}

package client

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// scriptWT starts an edge that serves WebTransport alone, with the certificate of
// another.
func scriptWT(t *testing.T, e *scripted, serve func(s *webtransport.Server, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &webtransport.Server{ApplicationProtocols: []string{wire.Subprotocol}}
	mux := http.NewServeMux()
	mux.HandleFunc("/wt", func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer AT_a" {
			t.Errorf("Authorization: %q", got)
		}
		serve(server, w, r)
	})
	server.H3 = &http3.Server{
		TLSConfig:  http3.ConfigureTLSConfig(&tls.Config{Certificates: e.TLS.Certificates}),
		QUICConfig: &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true},
		Handler:    mux,
	}
	webtransport.ConfigureHTTP3Server(server.H3)
	served := make(chan struct{})
	go func() { // ends with the server
		defer close(served)
		_ = server.Serve(conn)
	}()
	t.Cleanup(func() {
		server.Close()
		conn.Close()
		<-served
	})
	return "https://" + conn.LocalAddr().String()
}

func TestWebTransport(t *testing.T) {
	e := script(t, talk(t, polite))
	url := scriptWT(t, e, func(s *webtransport.Server, w http.ResponseWriter, r *http.Request) {
		session, err := s.Upgrade(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		stream, err := session.AcceptStream(r.Context())
		if err != nil {
			t.Error(err)
			return
		}
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
				if err != nil {
					t.Error(err)
				}
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
	})
	events := make(chan Event, 1000)
	ctx := patient(t)
	c, err := Connect(ctx, []string{url}, Options{Token: "AT_a", TLS: e.tls(), OnEvent: func(e Event) { events <- e }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Transport() != WebTransport {
		t.Errorf("over %s", c.Transport())
	}
	s, err := c.Subscribe(ctx, "t", "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 16 << 10, 64 << 10, 1 << 20, 2} {
		want := bytes.Repeat([]byte{'a'}, size)
		if err := c.Publish(ctx, "t", "x", want); err != nil {
			t.Error(err)
		}
		select {
		case m := <-s.Messages():
			if !bytes.Equal(m.Payload, want) {
				t.Errorf("%d bytes, want %d", len(m.Payload), size)
			}
		case <-ctx.Done():
			t.Fatal("no message")
		}
	}
	if err := c.Publish(ctx, "t", "x", []byte("end")); err != nil {
		t.Error(err)
	}
	for e := range events {
		if d, ok := e.(Disconnected); ok && d.Err.(*Error).Close != 4429 {
			t.Errorf("got %v", d.Err)
		}
		if r, ok := e.(Reconnected); ok {
			if r.Transport != WebTransport {
				t.Errorf("got %+v", r)
			}
			break
		}
	}
}

func TestWebTransportRefused(t *testing.T) {
	e := script(t, talk(t, polite))
	url := scriptWT(t, e, func(_ *webtransport.Server, w http.ResponseWriter, r *http.Request) {
		refuse(403, "origin_not_allowed", "because")(w, r)
	})
	_, err := Connect(patient(t), []string{url}, Options{Token: "AT_a", TLS: e.tls()})
	var got *Error
	if !errors.Is(err, ErrOriginNotAllowed) || !errors.As(err, &got) || got.Status != 403 || got.Text != "because" {
		t.Errorf("got %v", err)
	}
}

// Where nothing answers by UDP, WebSocket takes over.
func TestFallback(t *testing.T) {
	e := script(t, talk(t, polite))
	c := e.mustConnect(func(o *Options) { o.Transports, o.FallbackAfter = nil, 1 })
	if c.Transport() != WebSocket {
		t.Errorf("over %s", c.Transport())
	}
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
	if _, err := read([]byte{0xff, 0, 0, 0}); !errors.Is(err, ErrProtocol) {
		t.Errorf("got %v", err)
	}
}

// A client that has read the stream's end says so: the edge waits for that before
// it ends the session.
func TestWebTransportAnswersFIN(t *testing.T) {
	e := script(t, talk(t, polite))
	url := scriptWT(t, e, func(s *webtransport.Server, w http.ResponseWriter, r *http.Request) {
		session, err := s.Upgrade(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		stream, err := session.AcceptStream(r.Context())
		if err != nil {
			t.Error(err)
			return
		}
		first := wire.AppendMessage(nil, []byte(wire.LineFeatures))
		if _, err := io.ReadFull(stream, first); err != nil {
			t.Error(err)
		}
		if _, err := stream.Write(wire.AppendMessage(nil, []byte("ERR:token_revoked"))); err != nil {
			t.Error(err)
		}
		stream.Close()
		var end *webtransport.StreamError
		if _, err := stream.Read(make([]byte, 1)); !errors.As(err, &end) || !end.Remote {
			t.Errorf("got %v", err)
		}
		_ = session.CloseWithError(4403, "token_revoked")
	})
	c, err := Connect(patient(t), []string{url}, Options{Token: "AT_a", TLS: e.tls(), Transports: []Transport{WebTransport}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	<-c.Done()
	var why *Error
	if !errors.As(c.Err(), &why) || why.Code != "token_revoked" || why.Close != 4403 {
		t.Errorf("ended with %v", c.Err())
	}
}

package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// patience bounds waits on real connections.
const patience = 3 * time.Minute

// scripted is an edge that does with each connection what the test says.
type scripted struct {
	*httptest.Server
	t *testing.T
}

// script starts an edge with TLS. Requests for /ping are answered.
func script(t *testing.T, serve func(w http.ResponseWriter, r *http.Request)) *scripted {
	mux := http.NewServeMux()
	mux.HandleFunc("/ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "pong") })
	mux.HandleFunc("/ws", serve)
	e := &scripted{httptest.NewUnstartedServer(mux), t}
	e.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are wanted
	e.StartTLS()
	t.Cleanup(e.Close)
	return e
}

// talk accepts a connection and gives it to f, which closes it by returning.
func talk(t *testing.T, f func(c *websocket.Conn)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer AT_a" {
			t.Errorf("Authorization: %q", got)
		}
		upgrader := websocket.Upgrader{Subprotocols: []string{wire.Subprotocol}}
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if c.Subprotocol() != wire.Subprotocol {
			t.Errorf("subprotocol %q", c.Subprotocol())
		}
		_, first, err := c.ReadMessage()
		if err != nil {
			return // the client, which comes back by itself, was closed meanwhile
		}
		if string(first) != wire.LineFeatures {
			t.Errorf("got %q", first)
		}
		f(c)
	}
}

// polite answers lines and echoes publishes to the pattern x until the client
// leaves.
func polite(c *websocket.Conn) {
	for {
		kind, m, err := c.ReadMessage()
		if err != nil {
			return
		}
		answer := append([]byte("OK:"), m...)
		switch {
		case kind == websocket.BinaryMessage:
			p, err := wire.DecodePublish(m)
			if err != nil {
				return
			}
			answer = wire.AppendDeliver(nil, p.Tenant, p.Channel, p.Payload, []string{"x"})
		case string(m) == "PING":
			answer = []byte("PONG")
		}
		if c.WriteMessage(kind, answer) != nil {
			return
		}
	}
}

func control(t *testing.T, c *websocket.Conn, kind int, data []byte) {
	t.Helper()
	if err := c.WriteControl(kind, data, time.Now().Add(patience)); err != nil {
		t.Error(err)
	}
}

func refuse(status int, code, detail string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"about:blank","title":"x","status":%d,"detail":%q,"code":%q}`, status, detail, code)
	}
}

func (e *scripted) tls() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(e.Certificate())
	return &tls.Config{RootCAs: pool, ServerName: "example.com"}
}

func (e *scripted) connect(change func(*Options)) (*Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o := Options{Token: "AT_a", Transports: []Transport{WebSocket}, TLS: e.tls()}
	if change != nil {
		change(&o)
	}
	return Connect(ctx, []string{e.URL}, o)
}

func (e *scripted) mustConnect(change func(*Options)) *Client {
	e.t.Helper()
	c, err := e.connect(change)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { c.Close() })
	return c
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestWebSocket(t *testing.T) {
	e := script(t, talk(t, polite))
	c := e.mustConnect(nil)
	ctx := patient(t)
	s, err := c.Subscribe(ctx, "t", "x")
	if err != nil {
		t.Fatal(err)
	}
	// Small ones go together, large ones in parts.
	sizes := []int{0, 1, 125, 126, 65535, 65536, 1 << 20, 3}
	for range 200 {
		sizes = append(sizes, 10)
	}
	go func() {
		for i, size := range sizes {
			if err := c.PublishTo(ctx, OneRandom, "t", "x", []byte(strings.Repeat(string(rune('a'+i%26)), size))); err != nil {
				t.Error(err)
			}
		}
		if err := c.Flush(ctx); err != nil {
			t.Error(err)
		}
	}()
	for i, size := range sizes {
		select {
		case m := <-s.Messages():
			if want := strings.Repeat(string(rune('a'+i%26)), size); string(m.Payload) != want {
				t.Fatalf("message %d: %d bytes, want %d", i, len(m.Payload), size)
			}
		case <-ctx.Done():
			t.Fatal("no message", i)
		}
	}
	if err := s.Unsubscribe(ctx); err != nil {
		t.Error(err)
	}
}

// What was published before Close reaches the edge, and the edge hears that the
// client leaves.
func TestCloseSends(t *testing.T) {
	got := make(chan string, 1)
	e := script(t, talk(t, func(c *websocket.Conn) {
		_, m, err := c.ReadMessage()
		_, _, end := c.ReadMessage()
		got <- fmt.Sprintf("%q %v %v", m, err, websocket.IsCloseError(end, 1000))
	}))
	c := e.mustConnect(nil)
	if err := c.Publish(patient(t), "t", "x", []byte("p")); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got := <-got; got != `"\x00\x01t\x00\x01xp" <nil> true` {
		t.Errorf("got %s", got)
	}
}

// An edge that never ends the connection does not keep Close for long.
func TestCloseGivesUp(t *testing.T) {
	stay := make(chan struct{})
	e := script(t, talk(t, func(*websocket.Conn) { <-stay }))
	defer close(stay)
	c := e.mustConnect(nil)
	start := time.Now()
	c.Close()
	if since := time.Since(start); since < closeTimeout || since > patience {
		t.Errorf("closed after %v", since)
	}
}

func TestWebSocketPing(t *testing.T) {
	ponged := make(chan string, 1)
	e := script(t, talk(t, func(c *websocket.Conn) {
		c.SetPongHandler(func(data string) error { ponged <- data; return nil })
		control(t, c, websocket.PingMessage, []byte("are you there"))
		polite(c)
	}))
	e.mustConnect(nil)
	if got := <-ponged; got != "are you there" {
		t.Errorf("got %q", got)
	}
}

func TestWebSocketCloseCode(t *testing.T) {
	first := true
	e := script(t, talk(t, func(c *websocket.Conn) {
		if first {
			first = false
			if err := c.WriteMessage(websocket.TextMessage, []byte("ERR:slow_consumer:5")); err != nil {
				t.Error(err)
			}
			control(t, c, websocket.CloseMessage, websocket.FormatCloseMessage(4429, "too slow"))
		}
		polite(c)
	}))
	events := make(chan Event, 100)
	e.mustConnect(func(o *Options) { o.OnEvent = func(e Event) { events <- e } })
	for _, want := range []string{
		"client.Connected", "client.SlowConsumer {5}", "client.Disconnected", "client.Reconnecting {1 0s}", "client.Reconnected",
	} {
		got := <-events
		if text := fmt.Sprintf("%T %v", got, got); !strings.HasPrefix(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
		if d, ok := got.(Disconnected); ok && d.Err.(*Error).Close != 4429 {
			t.Errorf("got %v", d.Err)
		}
	}
}

// What ends the connection is answered with a close frame (RFC 6455, sections 5.5.1
// and 7.1.7), and text is checked.
func TestWebSocketSaysClose(t *testing.T) {
	for _, test := range []struct {
		name  string
		kind  int
		send  string
		close int
		code  Code
	}{
		{"close", websocket.CloseMessage, "\x11\x4dtoo slow", 4429, CodeDisconnected},
		{"close without a code", websocket.CloseMessage, "", websocket.CloseNoStatusReceived, CodeDisconnected},
		{"not UTF-8", websocket.TextMessage, "ERR:\xff", websocket.CloseInvalidFramePayloadData, CodeProtocol},
		{"half a character", websocket.TextMessage, "ERR:\xe2\x82", websocket.CloseInvalidFramePayloadData, CodeProtocol},
		{"close code out of range", websocket.CloseMessage, "\x03\xed", websocket.CloseProtocolError, CodeDisconnected},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := make(chan error, 10)
			e := script(t, talk(t, func(c *websocket.Conn) {
				if err := c.WriteMessage(test.kind, []byte(test.send)); err != nil {
					t.Error(err)
				}
				_, _, err := c.ReadMessage()
				said <- err
			}))
			lost := make(chan error, 10)
			e.mustConnect(func(o *Options) {
				o.OnEvent = func(e Event) {
					if e, ok := e.(Disconnected); ok {
						lost <- e.Err
					}
				}
			})
			if err := <-said; !websocket.IsCloseError(err, test.close) {
				t.Errorf("the edge got %v, want close %d", err, test.close)
			}
			if err := <-lost; err.(*Error).Code != test.code {
				t.Errorf("lost by %v, want %s", err, test.code)
			}
		})
	}
}

func TestWebSocketRefused(t *testing.T) {
	for _, test := range []struct {
		status int
		code   string
		want   error
	}{
		{401, "unauthorized", ErrUnauthorized},
		{403, "ip_not_allowed", ErrIPNotAllowed},
		{403, "client_not_allowed", ErrClientNotAllowed},
		{503, "draining", ErrDraining},
		{503, "try_later", ErrTryLater},
		{429, "too_many_failures", &Error{Code: "too_many_failures"}},
	} {
		_, err := script(t, refuse(test.status, test.code, "because")).connect(nil)
		var e *Error
		text := "because"
		if test.status == 401 {
			text = "the edge does not accept the token"
		}
		if !errors.Is(err, test.want) || !errors.As(err, &e) || e.Status != test.status || e.Text != text || e.RetryAfter != 3*time.Second {
			t.Errorf("got %v, want %v", err, test.want)
		}
	}
	t.Run("by another server", func(t *testing.T) {
		_, err := script(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hello", 404) }).connect(nil)
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "404") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("its certificate is not trusted", func(t *testing.T) {
		_, err := script(t, talk(t, polite)).connect(func(o *Options) { o.TLS = nil })
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		e := script(t, talk(t, polite))
		e.Close()
		if _, err := e.connect(nil); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no WebSocket to the edge: dial tcp 127") {
			t.Errorf("got %v", err)
		}
	})
}

// No error shows the token.
func TestErrorsHoldNoToken(t *testing.T) {
	for name, serve := range map[string]func(http.ResponseWriter, *http.Request){
		"refused": refuse(401, "unauthorized", "no"),
		"no edge": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example", http.StatusFound)
		},
		"cut off":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"nonsense": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(101) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := script(t, serve).connect(func(o *Options) { o.Token = "AT_s3cret" })
			if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "s3cret") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// With several edges the nearest one is taken, and a list gives the edges.
func TestNearestEdge(t *testing.T) {
	far := script(t, talk(t, polite))
	mux := far.Config.Handler
	far.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ping" {
			<-r.Context().Done() // it is farther than any other
			return
		}
		mux.ServeHTTP(w, r)
	})
	near := script(t, talk(t, polite))
	list := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"edges":[{"host":%q,"region":"EU"},{"host":%q},{"host":"x/../y"}]}`,
			strings.TrimPrefix(far.URL, "https://"), strings.TrimPrefix(near.URL, "https://"))
	}))
	defer list.Close()
	for _, addresses := range [][]string{{far.URL, near.URL}, {list.URL + "/edges"}} {
		c, err := Connect(patient(t), addresses, Options{Token: "AT_a", Transports: []Transport{WebSocket}, TLS: near.tls()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if c.Edge() != near.URL {
			t.Errorf("took %s, want %s", c.Edge(), near.URL)
		}
	}
}

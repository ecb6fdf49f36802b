package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

func TestWebSocket(t *testing.T) {
	bubble(t, "small messages go together, large ones in parts", func(t *testing.T, _ *world) {
		c := newInternet(t).client(nil, polite)
		s := mustSubscribe(t, c, "x")
		sizes := append([]int{0, 1, 125, 126, 65535, 65536, 1 << 20, 3}, slices.Repeat([]int{10}, 200)...)
		payload := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), sizes[i]) }
		published := async(func() error {
			for i := range sizes {
				if err := c.PublishTo(t.Context(), OneRandom, "t", "x", []byte(payload(i))); err != nil {
					return err
				}
			}
			return c.Flush(t.Context())
		})
		for i, size := range sizes {
			if got := payloads(t, s, 1)[0]; got != payload(i) {
				t.Fatalf("message %d: %d bytes, want %d", i, len(got), size)
			}
		}
		noError(t, <-published)
		noError(t, s.Unsubscribe(t.Context()))
	})
	bubble(t, "what was published before Close reaches the edge, which hears that the client leaves",
		func(t *testing.T, _ *world) {
			got := make(chan string, 1)
			c := newInternet(t).client(nil, func(c *websocket.Conn) {
				_, m, err := c.ReadMessage()
				_, _, end := c.ReadMessage()
				got <- fmt.Sprintf("%q %v %v", m, err, websocket.IsCloseError(end, 1000))
			})
			publish(t, c, "p")
			noError(t, c.Close())
			equal(t, "the edge has got", <-got, `"\x00\x01t\x00\x01xp" <nil> true`)
		})
	bubble(t, "an edge that never ends the connection does not keep Close for long", func(t *testing.T, _ *world) {
		stay := make(chan struct{})
		defer close(stay)
		c := newInternet(t).client(nil, func(*websocket.Conn) { <-stay })
		start := time.Now()
		c.Close()
		equal(t, "closed after", time.Since(start), closeTimeout)
	})
	bubble(t, "ping", func(t *testing.T, _ *world) {
		ponged := make(chan string, 1)
		newInternet(t).client(nil, func(c *websocket.Conn) {
			c.SetPongHandler(func(data string) error { ponged <- data; return nil })
			noError(t, c.WriteControl(websocket.PingMessage, []byte("are you there"), time.Time{}))
			polite(c)
		})
		equal(t, "pong", <-ponged, "are you there")
	})
	bubble(t, "close code", func(t *testing.T, w *world) {
		served := 0
		c := newInternet(t).client(w.told, func(c *websocket.Conn) {
			if served++; served == 1 {
				noError(t, c.WriteMessage(websocket.TextMessage, []byte("ERR:slow_consumer:5")))
				noError(t, c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4429, "too slow"), time.Time{}))
			}
			polite(c)
		})
		wantEvent(w, Connected{c.Edge(), WebSocket})
		wantEvent(w, SlowConsumer{5})
		equal(t, "close code", event[Disconnected](w).Err.(*Error).Close, 4429)
		wantEvent(w, Reconnecting{1, 0})
		event[Reconnected](w)
	})
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
		bubble(t, test.name, func(t *testing.T, w *world) {
			said := make(chan error, 10)
			newInternet(t).client(w.told, func(c *websocket.Conn) {
				noError(t, c.WriteMessage(test.kind, []byte(test.send)))
				_, _, err := c.ReadMessage()
				said <- err
			})
			if err := <-said; !websocket.IsCloseError(err, test.close) {
				t.Errorf("the edge got %v, want close %d", err, test.close)
			}
			equal(t, "lost by", event[Disconnected](w).Err.(*Error).Code, test.code)
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
		bubble(t, test.code, func(t *testing.T, _ *world) {
			n := newInternet(t)
			_, err := n.connect(nil, n.script(refuse(test.status, test.code, "because")))
			var e *Error
			text := "because"
			if test.status == 401 {
				text = "the edge does not accept the token: it is incomplete, of another edge, or has ended long ago"
			}
			if !errors.Is(err, test.want) || !errors.As(err, &e) || e.Status != test.status || !strings.HasPrefix(e.Text, text) || e.RetryAfter != 3*time.Second {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
	for name, test := range map[string]struct {
		serve  func(t *testing.T) http.HandlerFunc
		change func(*Options)
		want   string
	}{
		"by another server": {func(*testing.T) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hello", 404) }
		}, nil, "404"},
		"its certificate is not trusted": {
			func(t *testing.T) http.HandlerFunc { return talk(t, polite) }, func(o *Options) { o.TLS = nil }, "certificate",
		},
		"nobody listens": {nil, nil, "no WebSocket to the edge: dial tcp 127"},
	} {
		bubble(t, name, func(t *testing.T, _ *world) {
			n := newInternet(t)
			edge := "https://127.0.0.1:9"
			if test.serve != nil {
				edge = n.script(test.serve(t))
			}
			_, err := n.connect(test.change, edge)
			if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// No error shows the token.
func TestErrorsHoldNoToken(t *testing.T) {
	for name, serve := range map[string]http.HandlerFunc{
		"refused": refuse(401, "unauthorized", "no"),
		"no edge": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example", http.StatusFound)
		},
		"cut off":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"nonsense": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(101) },
	} {
		bubble(t, name, func(t *testing.T, _ *world) {
			n := newInternet(t)
			_, err := n.connect(func(o *Options) { o.Token = "AT_s3cret" }, n.script(serve))
			if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "s3cret") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// With several edges the nearest one is taken, and a list gives the edges.
func TestNearestEdge(t *testing.T) {
	bubble(t, "nearest edge", func(t *testing.T, _ *world) {
		n := newInternet(t)
		mux := http.NewServeMux()
		mux.HandleFunc("/ping", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }) // farther than any other
		mux.HandleFunc("/ws", talk(t, polite))
		far, near := n.serve(mux).URL, n.script(talk(t, polite))
		list := n.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"edges":[{"host":%q,"region":"EU"},{"host":%q},{"host":"x/../y"}]}`,
				strings.TrimPrefix(far, "https://"), strings.TrimPrefix(near, "https://"))
		})).URL
		for _, addresses := range [][]string{{far, near}, {list + "/edges"}} {
			equal(t, "took", n.mustConnect(nil, addresses...).Edge(), near)
		}
	})
}

// An edge takes a connection, and answers nothing.
func TestWebSocketHandshakeIsGivenUp(t *testing.T) {
	bubble(t, "a context that is cancelled", func(t *testing.T, _ *world) {
		n := newInternet(t)
		edge := n.script(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		o := Options{Token: "AT_a", Transports: []Transport{WebSocket}, TLS: n.tls, Network: n.network()}
		wantError(t, errorOf(Connect(ctx, []string{edge}, o)), context.Canceled)
		equal(t, "given up after", time.Since(start), time.Second)
	})
	bubble(t, "Close", func(t *testing.T, w *world) {
		n := newInternet(t)
		silent := false
		c := n.mustConnect(w.told, n.script(func(w http.ResponseWriter, r *http.Request) {
			if silent {
				<-r.Context().Done()
				return
			}
			silent = true
			talk(t, func(*websocket.Conn) {})(w, r)
		}))
		event[Disconnected](w)
		time.Sleep(time.Second) // it connects again
		start := time.Now()
		c.Close()
		equal(t, "closed after", time.Since(start), 0)
	})
}

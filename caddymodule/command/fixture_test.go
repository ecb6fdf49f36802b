package command

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/spf13/cobra"

	"github.com/millrace/millrace/wire"
)

const testTimeout = 3 * time.Minute

// A fakeEdge hands each connection to the test, which plays the edge.
type fakeEdge struct {
	url   string
	conns chan *fakeConn
	t     *testing.T
}

type fakeConn struct {
	*websocket.Conn
	t *testing.T
}

func newFakeEdge(t *testing.T) *fakeEdge {
	t.Helper()
	f := &fakeEdge{conns: make(chan *fakeConn), t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+testAccess {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		u := websocket.Upgrader{Subprotocols: []string{"llps.v1"}}
		conn, err := u.Upgrade(w, r, nil)
		if err != nil {
			return // the client is gone
		}
		select {
		case f.conns <- &fakeConn{conn, t}:
		case <-t.Context().Done(): // it came back after the test had seen enough
			_ = conn.Close()
		}
	}))
	t.Cleanup(server.Close)
	f.url = "ws" + strings.TrimPrefix(server.URL, "http") + "/ws"
	return f
}

func (f *fakeEdge) accept() *fakeConn {
	f.t.Helper()
	select {
	case c := <-f.conns:
		f.t.Cleanup(func() { c.Close() })
		c.expect("FEATURES:link,work_queue,own,reasons")
		return c
	case <-time.After(testTimeout):
		f.t.Fatal("the client did not connect")
		return nil
	}
}

func (c *fakeConn) sendLine(line string) {
	c.t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(line)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *fakeConn) deliver(payload string, patterns ...string) {
	c.t.Helper()
	frame := wire.AppendDeliver(nil, []byte("demo"), []byte("a"), []byte(payload), append([]string{"#"}, patterns...))
	if err := c.WriteMessage(websocket.BinaryMessage, frame); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next line.
func (c *fakeConn) next() string {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(testTimeout))
	_, got, err := c.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(got)
}

func (c *fakeConn) expect(line string) {
	c.t.Helper()
	if got := c.next(); got != line {
		c.t.Fatalf("got %q, want %s", got, line)
	}
}

// revoke closes the connection as an edge does when the token is revoked.
func (c *fakeConn) revoke() {
	c.t.Helper()
	c.sendLine("ERR:token_revoked")
	if err := c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4403, "token_revoked")); err != nil {
		c.t.Fatal(err)
	}
}

// expectLeave plays the edge until the client has left.
func (c *fakeConn) expectLeave() {
	c.t.Helper()
	for {
		_ = c.SetReadDeadline(time.Now().Add(testTimeout))
		_, got, err := c.ReadMessage()
		line := string(got)
		switch {
		case websocket.IsCloseError(err, websocket.CloseNormalClosure):
			return
		case err != nil:
			c.t.Fatalf("got %v, want a normal close", err)
		case line == wire.LinePing:
			c.sendLine(wire.LinePong)
		case strings.HasPrefix(line, "UNSUB:"):
			c.sendLine("OK:" + line)
		default:
			c.t.Fatalf("got %q from a client that leaves", line)
		}
	}
}

// A result is what a command wrote, and its exit code.
type result struct {
	out, err string
	code     int
}

// run runs the command pubsub as Caddy's main function does.
func run(ctx context.Context, stdin string, args ...string) result {
	var out, errs bytes.Buffer
	main, pubsub := &cobra.Command{Use: "millrace", SilenceUsage: true}, &cobra.Command{}
	setUp(pubsub)
	main.AddCommand(pubsub)
	main.SetArgs(append([]string{"pubsub"}, args...))
	main.SetIn(strings.NewReader(stdin))
	main.SetOut(&out)
	main.SetErr(&errs)
	err := main.ExecuteContext(ctx)
	r := result{out: out.String(), err: errs.String()}
	if err != nil {
		r.code = 1
		if v := reflect.ValueOf(err).Elem().FieldByName("ExitCode"); v.IsValid() { // an unexported type of Caddy
			r.code = int(v.Int())
		}
	}
	return r
}

package load

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

const returnMissed = 100 // messages that each client has missed

// returning is clients of a history that come back at once, in a process of their own.
type returning struct {
	URL    string // of the WebSocket
	Tokens []string
	N      int
	After  string // the line RSUB that each sends
}

// 10,000 clients come back at once, and each has missed 100 messages. All get them, and those
// who were there get theirs in time.
func TestHistoryReturn(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"memory", "badger {{.Dir}}/histories", "nats"} {
		caddyfile, nats := history.Caddyfile(store, "messages 1000"), besideNATS(t, store)
		e := harness.StartEdge(t, caddyfile, nats)
		r := &returning{URL: fmt.Sprintf("ws://localhost:%d/ws", e.HTTP), N: harness.SoakCount(t, 100, 10_000)}
		for range r.N/stormTogether + 1 {
			r.Tokens = append(r.Tokens, e.Issue(history.AllowHistory("paint.a")).Token)
		}
		p := e.Dial(r.Tokens[0])
		position := ""
		for i := range 1 + returnMissed {
			p.SendFrame(wire.AppendPublish(nil, wire.Publish{
				Confirm: true, ID: uint32(i), Tenant: []byte("paint.a"), Channel: []byte("chat.room"), Payload: fmt.Appendf(nil, "%d %0100d", i, i),
			}))
			_, text, err := p.Read()
			p.Must(err)
			line, err := wire.ParseServerLine(text)
			if err != nil || !line.Stored {
				t.Fatalf("got %q, %v", text, err)
			}
			if i == 0 {
				position = line.Position.String()
			}
		}
		if store == "nats" { // so that it does not have them in memory
			gone := e
			gone.Stop()
			e = harness.StartEdge(t, caddyfile, nats, harness.InDir(gone.Dir), harness.Replacing(gone))
		}
		r.After = "RSUB:paint.a:chat.room:" + position

		watch := &roomLoad{stop: make(chan struct{})}
		token, outcomes := e.Issue(harness.AllowAll("room")).Token, make(chan error, 2)
		w, publisher := e.Dial(token), e.Dial(token)
		w.Subscribe("paint.room", "watch")
		go func() { outcomes <- watch.follow(w.Link) }()                   // ends with the last message, or the session
		go func() { outcomes <- watch.Publish(publisher.Link, "watch") }() // ends with stop
		e.Poll("messages", func() bool { return watch.got.Load() > harness.AtLength[int64](2, 50) })

		memory := e.ResidentMiB()
		clients := harness.StartSubprocess(t, "TestHistoryReturnProcess", r)
		clients.Await("begin", time.Minute)
		watch.reloading.Store(true) // what is counted apart
		most := memory
		for deadline := time.Now().Add(5 * time.Minute); !clients.Has("caught up"); time.Sleep(20 * time.Millisecond) { // between looks at the memory
			most = max(most, e.ResidentMiB())
			if time.Now().After(deadline) {
				t.Fatal("not all have caught up")
			}
		}
		watch.reloading.Store(false)
		close(watch.stop)
		for range cap(outcomes) {
			if err := <-outcomes; err != nil {
				t.Error(err)
			}
		}
		clients.End("return:")
		t.Logf("%.6s: the edge had %d MiB, and at most %d MiB; others' messages meanwhile %v; before %v", store, memory, most, &watch.during, &watch.between)
		e.Stop()
	}
}

// TestHistoryReturnProcess is the process of the clients.
func TestHistoryReturnProcess(t *testing.T) {
	t.Parallel()
	r := new(returning)
	if !harness.IsSubprocess(t, r) {
		return
	}
	fmt.Println("begin")
	begin := time.Now()
	var connected, caught latencies
	var failed atomic.Int64
	var all sync.WaitGroup
	dialing := make(chan struct{}, stormTogether)
	conns := make([]*websocket.Conn, r.N)
	for i := range r.N {
		all.Go(func() {
			dialing <- struct{}{}
			conn, err := r.Dial(i)
			<-dialing
			if err == nil {
				conns[i] = conn
				connected.Add(time.Since(begin))
				err = r.resume(conn)
			}
			if err != nil {
				if failed.Add(1) < 5 {
					t.Errorf("client %d: %v", i, err)
				}
				return
			}
			caught.Add(time.Since(begin))
		})
	}
	all.Wait()
	if n := failed.Load(); n > 0 {
		t.Errorf("%d of %d clients failed", n, r.N)
	}
	fmt.Printf("return: %d clients, connected after %v, caught up after %v\n", r.N, &connected, &caught)
	fmt.Println("caught up")
	harness.AwaitParent()
	for _, conn := range conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

func (r *returning) Dial(i int) (*websocket.Conn, error) {
	dialer := websocket.Dialer{NetDialContext: harness.DialLoopback, ReadBufferSize: 1024, WriteBufferSize: 256, HandshakeTimeout: time.Minute}
	conn, res, err := dialer.Dial(r.URL, harness.Handshake{Token: r.Tokens[i/stormTogether]}.Headers())
	if res != nil {
		_ = res.Body.Close()
	}
	return conn, err
}

// resume reads what a client has missed, which must be all.
func (r *returning) resume(conn *websocket.Conn) error {
	l := harness.WebSocket{Conn: conn}
	if err := l.Write(harness.AsText, []byte(r.After)); err != nil {
		return err
	}
	for want := 1; ; want++ {
		if err := conn.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
			return err
		}
		kind, message, err := conn.ReadMessage()
		if err != nil {
			return err
		}
		if kind == harness.AsText {
			line, err := wire.ParseServerLine(message)
			if err != nil || line.Kind != wire.KindOKRsub || !line.Complete || want != returnMissed+1 {
				return fmt.Errorf("got %q in place of message %d: %w", message, want, err)
			}
			return nil
		}
		d, err := wire.DecodeDeliver(message)
		n := 0
		if err == nil {
			_, err = fmt.Sscan(string(d.Payload), &n)
		}
		if err != nil || n != want {
			return fmt.Errorf("got message %d in place of %d: %w", n, want, err)
		}
	}
}

package load

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// slowReader is subscribers of a history, one of whom reads slowly, and their publisher, in a
// process of their own.
type slowReader struct {
	URL    string // of the WebSocket
	Tokens []string
	N      int
	During time.Duration // of each phase
	Rounds int

	phase atomic.Pointer[latencies] // of the others, in this phase
	slow  atomic.Bool
	sent  atomic.Int64 // messages on a channel
	got   atomic.Int64 // of these, by the slow one
}

const (
	slowEvery = 20 * time.Millisecond
	// slowPause is between two messages that the slow one reads: 10 a second of some 100.
	slowPause = 100 * time.Millisecond
	slowLarge = 60_000 // bytes of the messages that it gets beside: more than its sockets take
	slowEnd   = "end"
)

// One of 1,000 subscribers reads at a tenth of the rate: the others get theirs as before, and
// it gets all of it in the end.
func TestHistorySlow(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, history.Caddyfile("memory", "messages 100000", "size 1GiB"))
	s := &slowReader{
		URL: fmt.Sprintf("ws://localhost:%d/ws", e.HTTP), N: harness.SoakCount(t, 50, 1000),
		During: harness.SoakFor(t, 3*time.Second, 30*time.Second), Rounds: harness.AtLength(1, 3),
	}
	for range s.N/stormTogether + 1 {
		s.Tokens = append(s.Tokens, e.Issue(history.AllowHistory("paint.a")).Token)
	}
	clients := harness.StartSubprocessBy(t, "TestHistorySlowProcess", s)
	clients.Await("done", 10*time.Minute)
	clients.End("slow:")
	behind := e.Metrics()["millrace_history_fell_behind_total"]
	if behind == 0 {
		t.Error("the slow one was never behind")
	}
	t.Logf("a subscription was behind %v times", behind)
}

// TestHistorySlowProcess is the process of the clients.
func TestHistorySlowProcess(t *testing.T) {
	t.Parallel()
	s := new(slowReader)
	if !harness.IsSubprocess(t, s) {
		return
	}
	s.phase.Store(new(latencies))
	var ready, ended sync.WaitGroup
	dialing := make(chan struct{}, stormTogether)
	for i := range s.N {
		ready.Add(1)
		ended.Go(func() {
			dialing <- struct{}{}
			if err := s.Read(i, func() { <-dialing; ready.Done() }); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	ready.Wait()
	publisher, err := s.Dial(0, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer publisher.Close()
	go func() { // ends with the connection
		for err := error(nil); err == nil; {
			_, _, err = publisher.ReadMessage()
		}
	}()
	stop := make(chan struct{})
	ended.Go(func() {
		if err := s.Publish(publisher, stop); err != nil {
			t.Error(err)
		}
	})
	for round := range s.Rounds {
		for _, slow := range []bool{false, true} {
			of := new(latencies)
			s.slow.Store(slow)
			s.phase.Store(of)
			time.Sleep(s.During) // the time that is measured
			fmt.Printf("slow: round %d, one reads slowly: %v: the others' messages %v\n", round+1, slow, of)
		}
		s.slow.Store(false)
		begin := time.Now()
		for s.sent.Load()-s.got.Load() > 5 && time.Since(begin) < harness.WaitTimeout {
			time.Sleep(10 * time.Millisecond) // until it has caught up
		}
		fmt.Printf("slow: it has caught up after %v\n", time.Since(begin))
	}
	close(stop)
	ended.Wait()
	fmt.Println("done")
	harness.AwaitParent()
}

func (s *slowReader) Dial(i, buffer int) (harness.WebSocket, error) {
	dialer := websocket.Dialer{NetDialContext: harness.DialLoopback, ReadBufferSize: 4096, WriteBufferSize: 512, HandshakeTimeout: time.Minute}
	conn, res, err := dialer.Dial(s.URL, harness.Handshake{Token: s.Tokens[i/stormTogether]}.Headers())
	if err != nil {
		return harness.WebSocket{}, err
	}
	_ = res.Body.Close()
	conn.SetPingHandler(func(data string) error { // by default it has a second, and no second try
		return conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(harness.WaitTimeout))
	})
	return harness.WebSocket{Conn: conn}, conn.NetConn().(*net.TCPConn).SetReadBuffer(buffer)
}

// Read is one client, of two patterns with positions and one without. It requires every
// message, in order. The first one reads slowly when it is told to, and gets large messages.
func (s *slowReader) Read(i int, ready func()) error {
	ready = sync.OnceFunc(ready)
	defer ready()
	l, err := s.Dial(i, 64<<10)
	if err != nil {
		return err
	}
	defer l.Close()
	lines := []string{"RSUB:paint.a:chat.room:now", "SUB:paint.a:plain"}
	if i == 0 {
		lines = append(lines, "RSUB:paint.a:chat.large:now")
	}
	for _, line := range lines {
		if err := l.Write(harness.AsText, []byte(line)); err != nil {
			return err
		}
	}
	next := map[string]int{}
	for oks, ends := 0, 0; ends < len(lines); {
		kind, message, err := l.Read()
		if err != nil {
			return err
		}
		if kind == harness.AsText {
			line, err := wire.ParseServerLine(message)
			if err != nil || line.Kind == wire.KindGap || line.Kind == wire.KindErr || line.Kind == wire.KindOKRsub && !line.Complete {
				return fmt.Errorf("got %q: %w", message, err)
			}
			if line.Kind == wire.KindOK || line.Kind == wire.KindOKRsub {
				if oks++; oks == len(lines) {
					ready()
				}
			}
			continue
		}
		d, err := wire.DecodeDeliver(message)
		if err != nil {
			return err
		}
		channel, n, at := string(d.Channel), 0, int64(0)
		if strings.HasPrefix(string(d.Payload), slowEnd) {
			ends++
			continue
		}
		if _, err := fmt.Sscan(string(d.Payload[:min(len(d.Payload), 40)]), &n, &at); err != nil {
			return err
		}
		if want := next[channel]; n != want && (channel != "plain" || i > 0) { // plain ones may be dropped for the slow one
			return fmt.Errorf("%s: got message %d in place of %d", channel, n, want)
		}
		next[channel] = n + 1
		if i == 0 && channel == "chat.large" {
			s.got.Store(int64(n) + 1)
		}
		if i > 0 {
			s.phase.Load().Add(time.Since(time.Unix(0, at)))
		} else if s.slow.Load() {
			time.Sleep(slowPause) // it reads slowly: there is nothing to wait for
		}
	}
	return nil
}

// Publish publishes a message of each kind at each tick, and the last ones after stop.
func (s *slowReader) Publish(to harness.WebSocket, stop <-chan struct{}) error {
	tick := time.NewTicker(slowEvery)
	defer tick.Stop()
	large := strings.Repeat("x", slowLarge)
	for n := 0; ; n++ {
		text := slowEnd
		select {
		case <-stop:
		case <-tick.C:
			text = fmt.Sprintf("%d %d ", n, time.Now().UnixNano())
		}
		for _, m := range []struct{ channel, payload string }{
			{"chat.room", text + large[:100]}, {"chat.large", text + large}, {"plain", text + large[:100]},
		} {
			frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("paint.a"), Channel: []byte(m.channel), Payload: []byte(m.payload)})
			if err := to.Write(harness.AsFrame, frame); err != nil {
				return err
			}
		}
		if text == slowEnd {
			return nil
		}
		s.sent.Store(int64(n) + 1)
	}
}

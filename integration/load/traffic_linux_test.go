package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

const tenant = "paint.room"

func room(n int) string { return fmt.Sprintf("room.%d", n) }

// traffic is publishers and subscribers of rooms. A subscriber requires every message.
type traffic struct {
	e       *harness.Edge
	stop    func()
	parties sync.WaitGroup
	got     atomic.Int64
	slowest longest
}

// startTraffic publishes at an edge that many times a second to each room, which has that many
// subscribers, the last of several over WebTransport. It returns when messages come.
func startTraffic(e *harness.Edge, rooms, each, rate int) *traffic {
	e.T.Helper()
	ctx, cancel := context.WithCancel(e.T.Context())
	l := &traffic{e: e, stop: cancel}
	e.T.Cleanup(l.end)
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["right"].(harness.Object)["expires_at"] = harness.In(12 * time.Hour) // after any soak
	token := e.IssueAs(e.Master, request).Token
	for i := range rooms * each {
		s := enter(e, harness.Handshake{Token: token}, i%each > 0 && i%each == each-1)
		s.Subscribe(tenant, room(i/each))
		l.parties.Go(func() { l.follow(s.Link) })
	}
	for i := range rooms {
		p := e.Dial(token)
		l.parties.Go(func() {
			for n, last := 0, false; !last; n++ {
				pause(ctx, time.Second/time.Duration(rate))
				last = ctx.Err() != nil
				frame := harness.RawPublish(tenant, room(i), fmt.Sprintf("%d %d %v", n, time.Now().UnixNano(), last))
				if err := p.Write(harness.AsFrame, frame); err != nil {
					e.T.Errorf("message %d: %v", n, err)
					return
				}
			}
		})
		go func() { // ends with the connection: who reads nothing answers no ping
			for err := error(nil); err == nil; {
				_, _, err = p.Ws().ReadMessage()
			}
		}()
	}
	l.awaitMore(3 * rooms * each)
	return l
}

// enter opens a session, over WebSocket or WebTransport. A QUIC handshake has 5 s, which may
// go by on a busy machine: only a soak has the machine for itself.
func enter(e *harness.Edge, h harness.Handshake, quic bool) (s *harness.Socket) {
	if !quic {
		return e.MustOpen(h)
	}
	h.URL = ""
	e.Poll("a session over WebTransport", func() bool {
		var answer harness.Answer
		var err error
		if s, answer, err = e.TryWebTransport(h); s == nil && (err == nil || harness.Soaking) {
			e.T.Fatalf("a client is not served: %v %d %s", err, answer.Status, answer.Body)
		}
		return s != nil
	})
	return s
}

// awaitMore returns when n more messages have come.
func (l *traffic) awaitMore(n int) {
	l.e.T.Helper()
	before := l.got.Load()
	l.e.Poll(fmt.Sprintf("%d more messages", n), func() bool { return l.got.Load() >= before+int64(n) })
}

// end requires all messages until now.
func (l *traffic) end() {
	l.stop()
	l.parties.Wait()
}

func (l *traffic) follow(from harness.Link) {
	for want, last := -1, false; !last; {
		_, frame, err := from.Read()
		n, at := 0, int64(0)
		if err == nil {
			_, err = fmt.Sscan(string(harness.PayloadOf(frame)), &n, &at, &last)
		}
		if err != nil || want >= 0 && n != want {
			l.e.T.Errorf("got %q, %v in place of message %d", frame, err, want)
			return
		}
		want = n + 1
		l.got.Add(1)
		l.slowest.note(time.Since(time.Unix(0, at)))
	}
}

// longest is the longest of times that something took.
type longest struct{ atomic.Int64 }

func (l *longest) note(d time.Duration) {
	for old := l.Load(); int64(d) > old && !l.CompareAndSwap(old, int64(d)); old = l.Load() {
	}
}

// take is the longest since the last call.
func (l *longest) take() time.Duration { return time.Duration(l.Swap(0)) }

// pause is a pace, not a wait. It ends with the context at the latest.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

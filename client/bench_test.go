package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// loopLink receives the same frame again and again, read off a stream as a
// WebTransport session has it, and takes whatever is sent.
type loopLink struct {
	reader *bufio.Reader
	buf    []byte
	left   int
	ready  chan struct{} // closed when the frames may come
	over   chan struct{}
	acks   chan []byte
}

// ring is an endless stream.
type ring struct {
	bytes []byte
	at    int
}

func (r *ring) Read(b []byte) (int, error) {
	n := copy(b, r.bytes[r.at:])
	r.at = (r.at + n) % len(r.bytes)
	return n, nil
}

func (l *loopLink) receive() ([]byte, bool, error) {
	select {
	case ack := <-l.acks:
		return ack, false, nil
	case <-l.ready:
	}
	if l.left == 0 {
		<-l.over
		return nil, false, lost(errors.New("over"))
	}
	l.left--
	m, err := readMessage(l.reader, &l.buf)
	return m, true, err
}

func (l *loopLink) send(messages []byte) error {
	for len(messages) > 0 {
		start, end, _ := wire.MessageBounds(messages)
		if m := messages[start:end]; bytes.HasPrefix(m, []byte("SUB")) {
			l.acks <- append([]byte("OK:"), m...)
		}
		messages = messages[end:]
	}
	return nil
}

func (l *loopLink) finish()                { close(l.over) }
func (l *loopLink) abort()                 {}
func (l *loopLink) heard() time.Time       { return time.Now() }
func (l *loopLink) unusual() time.Duration { return 0 }
func (l *loopLink) setWaker(func())        {}
func (l *loopLink) probe()                 {}

// BenchmarkReceive is a message's way from the stream's bytes to the
// application, through one subscription. Run it with -cpu 1 for what one core
// does.
func BenchmarkReceive(b *testing.B) {
	frame := wire.AppendDeliver(nil, []byte("paint.room"), []byte("news.sport"), make([]byte, 64), []string{"news.#"})
	stream := bytes.Repeat(wire.AppendMessage(nil, frame), 100)
	for _, kind := range []string{"channel", "function"} {
		b.Run(kind, func(b *testing.B) {
			l := &loopLink{
				reader: bufio.NewReaderSize(heardReader{&ring{bytes: stream}, newClock()}, 16<<10), left: b.N,
				ready: make(chan struct{}), over: make(chan struct{}), acks: make(chan []byte, 1),
			}
			s, err := Options{Token: "AT_a"}.settings()
			must(b, err)
			s.dial = func(context.Context, string, Transport, string) (link, error) { return l, nil }
			c, err := connect(b.Context(), []string{"https://a.example"}, s)
			must(b, err)
			defer c.Close()
			var got atomic.Int64
			all := make(chan struct{})
			count := func(m Message) {
				if len(m.Payload) == 64 && got.Add(1) == int64(b.N) {
					close(all)
				}
			}
			var sub *Subscription
			if kind == "channel" {
				sub, err = c.Subscribe(b.Context(), "paint.room", "news.#", WithQueue(1<<20, DropNewest))
				go func() {
					for m := range sub.Messages() {
						count(m)
					}
				}()
			} else {
				sub, err = c.SubscribeFunc(b.Context(), "paint.room", "news.#", count, WithQueue(1<<20, DropNewest))
			}
			must(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			close(l.ready)
			<-all
			b.StopTimer()
			if n := sub.dropped.Load(); n > 0 {
				b.Errorf("%d dropped", n)
			}
		})
	}
}

package websocket

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub"
)

func TestMessages(t *testing.T) {
	serve(t, func(p *peer) {
		p.subscribe()
		p.send(frame(finBit|opPing, []byte("hi")), text("PING"))
		p.expect("pong hi", "text PONG")
		for _, n := range []int{0, 1, 100, 125, 126, 400, 512, 513, 1 << 16, 1<<16 - 9} {
			p.send(frame(finBit|opBinary, publish(make([]byte, n))))
			p.expect(fmt.Sprintf("deliver t/a %d [#]", n))
		}
		p.send(frame(finBit|opBinary, publish(make([]byte, 64<<10+1)))) // the largest that is let through
		p.expect("text ERR:payload_too_large:PUB:t:a")
		p.send(text("nonsense"), frame(finBit|opBinary, []byte("SUB:t:a")), frame(finBit|opText, publish(nil)))
		p.expect("text ERR:bad_request", "text ERR:bad_frame", "text ERR:bad_request")
		p.send(frame(finBit|opClose, binary.BigEndian.AppendUint16(nil, 1000)))
		p.expect("close 1000 ", "EOF")
	})
}

// Whatever the pieces in which bytes arrive, the messages are the same.
func TestSplitReads(t *testing.T) {
	stream := slices.Concat(
		text("SUB:t:#"),
		frame(finBit|opBinary, publish(bytes.Repeat([]byte("x"), 300))),
		frame(opBinary, publish(nil)), frame(finBit|opPing, []byte("between")), frame(opContinuation, nil), frame(finBit|opContinuation, []byte("tail")),
		frame(finBit|opBinary, publish(bytes.Repeat([]byte("y"), 700))),
	)
	for _, size := range []int{1, 2, 3, 7, 64, 511, len(stream)} {
		serve(t, func(p *peer) {
			p.send(slices.Collect(slices.Chunk(stream, size))...)
			got := []string{p.read(), p.read(), p.read(), p.read(), p.read()}
			want := []string{"text OK:SUB:t:#", "deliver t/a 300 [#]", "pong between", "deliver t/a 4 [#]", "deliver t/a 700 [#]"}
			// A pong overtakes deliveries that are queued at that moment.
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				p.Errorf("in pieces of %d: got %q", size, got)
			}
		})
	}
}

// Those that are not among the cases of TestRFC6455.
func TestBreachesClose(t *testing.T) {
	long := make([]byte, 64<<10+pubsub.ReadOverhead+1)
	unmasked := []byte{finBit | opText, 4, 'P', 'I', 'N', 'G'}
	for name, c := range map[string]struct {
		frames [][]byte
		want   string
	}{
		"unmasked":          {[][]byte{unmasked}, "close 1002 "},
		"too big":           {[][]byte{frame(finBit|opBinary, long)}, "close 1009 "},
		"too big in pieces": {[][]byte{frame(opBinary, long[:40<<10]), frame(finBit|opContinuation, long[:40<<10])}, "close 1009 "},
		"4 EiB":             {[][]byte{{finBit | opBinary, maskBit | 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}}, "close 1009 "},
		"2^63":              {[][]byte{{finBit | opBinary, maskBit | 127, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}}, "close 1002 "},
		"125 in 16 bits":    {[][]byte{{finBit | opBinary, maskBit | 126, 0, 125, 1, 2, 3, 4}}, "close 1002 "},
		"65535 in 64 bits":  {[][]byte{{finBit | opBinary, maskBit | 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 1, 2, 3, 4}}, "close 1002 "},
	} {
		t.Run(name, func(t *testing.T) {
			serve(t, func(p *peer) {
				p.send(c.frames...)
				if got := p.read(); !strings.HasPrefix(got, c.want) {
					p.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestKeepAlive(t *testing.T) {
	serve(t, func(p *peer) {
		start := time.Now()
		p.expect("ping ")
		p.took(start, pingEvery)
		p.send(frame(finBit|opPong, nil))
		p.expect("ping ")
		p.expect("ping ") // unanswered
		p.expect("close 1001 silent for too long")
		p.took(start, pingEvery+silenceTimeout)
	})
}

// A client that is busy is pinged all the same, and its silence counts from its
// last word.
func TestKeepAliveOfBusyClient(t *testing.T) {
	serve(t, func(p *peer) {
		start := time.Now()
		at := func(d time.Duration, want string) {
			p.Helper()
			p.expect(want)
			p.took(start, d)
		}
		done := make(chan struct{})
		go func() { // ends with the pause
			defer close(done)
			for range 70 * 4 {
				time.Sleep(settleAfter / 8)
				p.write(frame(finBit|opBinary, publish(nil)))
			}
		}()
		at(pingEvery, "ping ")
		at(2*pingEvery, "ping ")
		<-done
		last := time.Since(start)
		at(3*pingEvery, "ping ")
		at(4*pingEvery, "ping ")
		at(5*pingEvery, "ping ")
		at(last+silenceTimeout, "close 1001 silent for too long")
	})
}

// A client that the edge has not read from for long was not silent.
func TestCapIsNoSilence(t *testing.T) {
	serveWith(t, setup{ingress: 1}, func(p *peer) {
		start := time.Now()
		p.send(frame(finBit|opBinary, publish(make([]byte, 64<<10))), text("SUB:t:#"))
		pings := 0
		for got := p.read(); got != "text OK:SUB:t:#"; got = p.read() {
			if pings++; got != "ping " || time.Since(start) != time.Duration(pings)*pingEvery {
				p.Fatalf("got %q after %v", got, time.Since(start))
			}
		}
		if pings != 2 {
			p.Errorf("%d pings while the cap held the reader back, want 2", pings)
		}
		if took := time.Since(start); took < silenceTimeout {
			p.Errorf("took %v: the test shows nothing", took)
		}
	})
}

// Every frame counts against the cap: those that ask for nothing, too.
func TestCapCountsEveryFrame(t *testing.T) {
	for name, f := range map[string][]byte{"pong": frame(finBit|opPong, nil), "fragment": frame(opContinuation, nil)} {
		serveWith(t, setup{ingress: 1}, func(p *peer) {
			go func() { _, _ = io.Copy(io.Discard, p) }()
			if name == "fragment" {
				p.write(frame(opText, nil))
			}
			start := time.Now()
			for range 320 { // 10 KiB by count; the bucket holds 1
				p.write(f)
			}
			if took := time.Since(start); took < 8*time.Second || took > 10*time.Second {
				p.Errorf("%s: took %v", name, took)
			}
		})
	}
}

// The closing handshake when the edge starts it: the client's answer ends the
// connection at once, and what it had sent before does not matter.
func TestServerCloses(t *testing.T) {
	serve(t, func(p *peer) {
		p.subscribe()
		p.hub.TokenRevoked("a")
		p.expect("text ERR:token_revoked", "close 4403 token_revoked")
		start := time.Now()
		p.send(frame(finBit|opBinary, publish(make([]byte, 5000))), text("PING"), frame(finBit|opClose, []byte{0x11, 0x33}))
		p.expect("EOF")
		p.took(start, 0)
	})
	serve(t, func(p *peer) { // and a client that never answers is cut
		p.hub.TokenRevoked("a")
		p.expect("text ERR:token_revoked", "close 4403 token_revoked")
		start := time.Now()
		p.expect("EOF")
		p.took(start, 2*time.Second)
	})
}

func FuzzReader(f *testing.F) {
	f.Add(text("SUB:t:#"))
	f.Add(frame(finBit|opBinary, publish([]byte("x"))))
	f.Add(frame(finBit|opClose, []byte{3, 0xE8}))
	f.Fuzz(func(t *testing.T, data []byte) {
		serve(t, func(p *peer) {
			p.send(data)
			go func() { _, _ = io.Copy(io.Discard, p) }()
			synctest.Wait()
		})
	})
}

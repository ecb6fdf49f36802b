package load

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// How many messages of 128 bytes a second an edge stores, with 16 publishers of a tenant who
// wait for the answers.
func TestHistoryRate(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"memory", "badger {{.Dir}}/histories", "nats"} {
		e := harness.StartEdge(t, history.Caddyfile(store, "size 512MiB"), besideNATS(t, store))
		token := e.Issue(history.AllowHistory("paint.a")).Token
		const publishers, window = 16, 512
		r := &storeRate{stop: make(chan struct{})}
		var ended sync.WaitGroup
		for i := range publishers {
			conn := e.Dial(token).Ws().NetConn()
			ended.Go(func() {
				if err := r.Publish(conn, fmt.Sprintf("chat.%d", i), window); err != nil {
					t.Error(err)
				}
			})
		}
		// A number of messages, and not a time: a busy disk may store none in a second.
		measured := harness.AtLength[int64](2000, 200_000)
		r.Await(e, measured/4) // until it runs evenly: nothing says so
		before, cpu, begin := r.stored.Load(), cpuTime(e), time.Now()
		r.Await(e, before+measured)
		stored, seconds := float64(r.stored.Load()-before), time.Since(begin).Seconds()
		cpu = cpuTime(e) - cpu
		close(r.stop)
		ended.Wait()
		t.Logf("%.6s: %.0f messages/s; %.2f µs of the edge's CPU each, so %.0f a second of a processor; from publish to OK:PUB p50 %v, p99 %v",
			store, stored/seconds, cpu.Seconds()*1e6/stored, stored/cpu.Seconds(), r.answers.quantile(0.5), r.answers.quantile(0.99))
		e.Stop()
	}
}

// besideNATS has the edge use a NATS server of its own, as a process, where the store of its
// histories is there.
func besideNATS(t *testing.T, store string) harness.Option {
	t.Helper()
	if store != "nats" {
		return func(*harness.Edge) {}
	}
	url := harness.StartNATS(t, 1)[0].URL()
	return func(e *harness.Edge) { e.Broker = "nats " + url }
}

type storeRate struct {
	stop    chan struct{}
	stored  atomic.Int64
	answers latencies // every hundredth
}

// Await waits until so many messages have been stored.
func (r *storeRate) Await(e *harness.Edge, stored int64) {
	e.T.Helper()
	e.Poll(fmt.Sprintf("%d messages to be stored", stored), func() bool { return r.stored.Load() >= stored })
}

// Publish publishes until stop is closed, with so many publishes under way, and writes as many
// at a time as have been answered. It speaks WebSocket itself: with a call for each message the
// publishers would cost more than the edge.
func (r *storeRate) Publish(conn net.Conn, channel string, window int) error {
	var written, answered atomic.Int64
	times := make([]atomic.Int64, window) // when each was written, by number
	room := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() { // ends with the connection, or when the last one is answered
		ended <- r.readAnswers(conn, &answered, times, room)
	}()
	payload := make([]byte, 128)
	for stopped := false; ; {
		select {
		case <-r.stop:
			stopped = true
		default:
		}
		if stopped && answered.Load() == written.Load() {
			_ = conn.Close()
			if err := <-ended; err == nil {
				return errors.New("the edge answers on a closed connection")
			}
			return nil
		}
		var out []byte
		for now := time.Now().UnixNano(); !stopped && written.Load()-answered.Load() < int64(window); {
			id := written.Add(1) - 1
			times[int(id)%window].Store(now)
			frame := wire.AppendPublish(nil, wire.Publish{
				Confirm: true, ID: uint32(id), Tenant: []byte("paint.a"), Channel: []byte(channel), Payload: payload,
			})
			out = append(out, 0x82, 0x80|126) // a binary message, masked with zeroes
			out = binary.BigEndian.AppendUint16(out, uint16(len(frame)))
			out = append(append(out, 0, 0, 0, 0), frame...)
		}
		if len(out) > 0 {
			if err := conn.SetDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
				return err
			}
			if _, err := conn.Write(out); err != nil {
				return err
			}
		}
		select {
		case <-room:
		case err := <-ended:
			return fmt.Errorf("after %d answers: %w", answered.Load(), err)
		}
	}
}

func (r *storeRate) readAnswers(conn net.Conn, answered *atomic.Int64, times []atomic.Int64, room chan<- struct{}) error {
	in := bufio.NewReaderSize(conn, 64<<10)
	for {
		var head [2]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		if head[0] != 0x81 || head[1] >= 126 { // a short line
			return fmt.Errorf("the edge sent a frame that begins with %x", head)
		}
		line, err := in.Peek(int(head[1]))
		if err != nil {
			return err
		}
		rest, ok := bytes.CutPrefix(line, []byte("OK:PUB:"))
		id, _, _ := bytes.Cut(rest, []byte(":"))
		n, err := strconv.ParseUint(string(id), 10, 32)
		if !ok || err != nil {
			return fmt.Errorf("got %q", line)
		}
		if n%100 == 0 {
			r.answers.Add(time.Since(time.Unix(0, times[int(n)%len(times)].Load())))
		}
		_, _ = in.Discard(len(line))
		r.stored.Add(1)
		answered.Add(1)
		select {
		case room <- struct{}{}:
		default:
		}
	}
}

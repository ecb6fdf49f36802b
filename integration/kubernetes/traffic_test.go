package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

const (
	tenant     = "paint.room"
	publishers = 4
	each       = 50 * time.Millisecond // a message of each publisher
)

// traffic is clients that publish all the time, with positions to chat.#, and without to live.#,
// and clients that subscribe to both, over both transports.
type traffic struct {
	t         *testing.T
	addresses []string
	options   client.Options
	check     *historycheck.Checker
	readers   []*reader

	publishing context.Context
	stop       func()
	work       sync.WaitGroup // of publishers

	mu    sync.Mutex
	sent  counts
	maxOK time.Duration // the slowest publish since the last report
	end   wire.Position // of the last message
}

// counts are since the last report.
type counts struct{ stored, unavailable, unknown, live int }

// reader is a subscriber to the history, or to what is not kept.
type reader struct {
	name string
	sub  *client.Subscription
	done chan struct{} // closed when sub has ended

	mu      sync.Mutex
	last    time.Time     // of the last message
	longest time.Duration // without one, since the last report
	got     int
	at      wire.Position
	numbers map[string]int  // of each channel of live.#, the last message
	missing map[string]bool // messages to live.# that may yet come late
	doubled int
}

// begin connects all clients, and returns when messages flow.
func begin(t *testing.T, addresses []string, options client.Options) *traffic {
	t.Helper()
	r := &traffic{t: t, addresses: addresses, options: options, check: historycheck.New()}
	// The messages of a server that restarts may be in no memory of keys.
	r.check.Shared, r.check.KeysEndAfter = true, 1000
	r.publishing, r.stop = context.WithCancel(context.Background())
	t.Cleanup(func() { // of a test that failed; its clients are closed
		r.stop()
		r.work.Wait()
	})
	for _, transport := range []client.Transport{client.WebSocket, client.WebTransport} {
		r.subscribe(transport, "chat.#", client.WithHistory(client.Now))
		r.subscribe(transport, "live.#")
	}
	for i := range publishers {
		transport := []client.Transport{client.WebSocket, client.WebTransport}[i%2]
		c := r.connect(transport, nil)
		r.work.Go(func() { r.publishKept(c, i) })
		r.work.Go(func() { r.publishLive(c, i) })
	}
	return r
}

func (r *traffic) connect(transport client.Transport, heard func(client.Event)) *client.Client {
	r.t.Helper()
	options := r.options
	options.Transports, options.OnEvent = []client.Transport{transport}, heard
	c, err := client.Connect(r.t.Context(), r.addresses, options)
	must(r.t, err)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (r *traffic) subscribe(transport client.Transport, text string, options ...client.SubscribeOption) {
	r.t.Helper()
	p, err := pattern.Parse(text)
	must(r.t, err)
	reader := &reader{name: fmt.Sprintf("%s %s", transport, text), done: make(chan struct{}), numbers: map[string]int{}, missing: map[string]bool{}}
	check := r.check.Client(reader.name, tenant, p)
	c := r.connect(transport, func(e client.Event) {
		switch e := e.(type) {
		case client.Gap:
			at, err := wire.ParsePosition(e.Before)
			if r.t.Logf("%s: a gap before %s %s", reader.name, e.Before, e.Code); err == nil {
				check.Gap(at)
			}
		case client.Reconnected:
			r.t.Logf("%s: back at %s after %v", reader.name, e.Edge, e.Away)
		case client.QueueFull, client.SlowConsumer, client.SubscriptionError:
			r.t.Errorf("%s: %+v", reader.name, e)
		}
	})
	reader.sub, err = c.Subscribe(r.t.Context(), tenant, text, append(options, client.WithQueue(100_000, ""))...)
	must(r.t, err)
	r.readers = append(r.readers, reader)
	go func() {
		defer close(reader.done)
		for m := range reader.sub.Messages() {
			if at, err := wire.ParsePosition(m.Position); err == nil {
				if reader.at.N == 0 {
					check.Begin(wire.Position{Epoch: at.Epoch, N: at.N - 1, T: at.T})
				}
				check.Message(m.Tenant, m.Channel, string(m.Payload), at)
				check.End(at)
				reader.take(m, at)
			} else {
				reader.take(m, wire.Position{})
			}
		}
	}()
}

func (s *reader) take(m client.Message, at wire.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.last.IsZero() {
		s.longest = max(s.longest, now.Sub(s.last))
	}
	s.last = now
	s.got++
	s.at = at
	if at.N > 0 {
		return // the checker has it
	}
	number, _ := strconv.Atoi(string(m.Payload))
	last, known := s.numbers[m.Channel]
	name := func(number int) string { return fmt.Sprint(m.Channel, " ", number) }
	if known && number <= last { // from a connection that was replaced
		if !s.missing[name(number)] {
			s.doubled++
		}
		delete(s.missing, name(number))
		return
	}
	for between := last + 1; known && between < number; between++ {
		s.missing[name(between)] = true
	}
	s.numbers[m.Channel] = number
}

// publishKept publishes with keys, many at a time: those are repeated until their outcome is known.
func (r *traffic) publishKept(c *client.Client, self int) {
	var pending sync.WaitGroup
	defer pending.Wait()
	room := make(chan struct{}, 2000)
	for number := 0; r.pause(); number++ {
		room <- struct{}{}
		pending.Go(func() {
			defer func() { <-room }()
			channel, payload := fmt.Sprintf("chat.%d", self), fmt.Sprintf("%d.%d", self, number)
			begin := time.Now()
			text, err := c.PublishConfirmed(context.Background(), tenant, channel, []byte(payload), client.WithKey(payload))
			at, parse := wire.ParsePosition(text)
			r.mu.Lock()
			defer r.mu.Unlock()
			switch {
			case errors.Is(err, client.ErrHistoryUnavailable):
				r.sent.unavailable++
				r.check.NotStored(tenant, channel, payload)
			case errors.Is(err, client.ErrOutcomeUnknown):
				r.sent.unknown++
			case r.t.Context().Err() != nil: // the test has failed
			case err != nil || parse != nil:
				r.t.Errorf("a publish: %q, %v", text, err)
			default:
				r.sent.stored++
				r.maxOK = max(r.maxOK, time.Since(begin))
				if r.end.N < at.N || r.end.Epoch != at.Epoch {
					r.end = at
				}
				r.check.Confirmed(tenant, channel, payload, at)
			}
		})
	}
}

// publishLive publishes numbers, as long as there is a connection.
func (r *traffic) publishLive(c *client.Client, self int) {
	for number := 1; r.pause(); {
		if c.Publish(context.Background(), tenant, fmt.Sprintf("live.%d", self), []byte(strconv.Itoa(number))) == nil {
			number++
			r.mu.Lock()
			r.sent.live++
			r.mu.Unlock()
		}
	}
}

func (r *traffic) pause() bool {
	select {
	case <-r.publishing.Done():
		return false
	case <-time.After(each):
		return true
	}
}

// report logs what happened since the last report, and returns how many messages of those that
// are not kept were lost.
func (r *traffic) report(what string) (lost int) {
	r.t.Helper()
	r.mu.Lock()
	sent, slowest := r.sent, r.maxOK
	r.sent, r.maxOK = counts{}, 0
	r.mu.Unlock()
	var list strings.Builder
	for _, s := range r.readers {
		s.mu.Lock()
		fmt.Fprintf(&list, "\n\t%s: %d messages, %d lost, %d twice, at most %v without one", s.name, s.got, len(s.missing), s.doubled,
			max(s.longest, time.Since(s.last)).Round(10*time.Millisecond))
		if lost += len(s.missing); s.doubled > 0 {
			r.t.Errorf("%s: %d messages came twice", s.name, s.doubled)
		}
		clear(s.missing)
		s.got, s.doubled, s.longest = 0, 0, 0
		s.mu.Unlock()
	}
	r.t.Logf("%s: %d stored, the slowest after %v, %d not stored, %d of unknown outcome; %d live%s", what, sent.stored,
		slowest.Round(10*time.Millisecond), sent.unavailable, sent.unknown, sent.live, list.String())
	return lost
}

// finish ends it all, and compares what was stored with what came.
func (r *traffic) finish() {
	r.t.Helper()
	r.stop()
	r.work.Wait()
	for _, s := range r.readers {
		for end := time.Now().Add(time.Minute); strings.HasSuffix(s.name, "chat.#"); time.Sleep(100 * time.Millisecond) {
			s.mu.Lock()
			at := s.at
			s.mu.Unlock()
			if at.Epoch == r.end.Epoch && at.N >= r.end.N {
				break
			}
			if time.Now().After(end) {
				r.t.Errorf("%s is at %v, and does not reach the end, %v", s.name, at, r.end)
				break
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_ = s.sub.Unsubscribe(ctx) // its channel is closed
		cancel()
		<-s.done
	}
	sum := r.check.Finish()
	for _, fault := range sum.Faults {
		r.t.Error(fault)
	}
	r.t.Logf("all: %d confirmed, %d received, %d gaps, %d faults", sum.Confirmed, sum.Received, sum.Gaps, len(sum.Faults))
}

// revocable is a client whose token is revoked later.
func (r *traffic) revocable(token string) *client.Client {
	r.t.Helper()
	options := r.options
	options.Token = token
	c, err := client.Connect(r.t.Context(), r.addresses, options)
	must(r.t, err)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

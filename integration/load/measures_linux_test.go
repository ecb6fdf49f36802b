package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
)

// What clients cost an edge by asking whether it lives: with nothing else, with a message a
// second, and with ten at once every ten seconds.
func TestPings(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	c := &crowd{N: harness.SoakCount(t, 20, 10_000), KeepAlive: harness.AtLength(time.Second, 25*time.Second)}
	clients := c.Start(t, e)
	for _, phase := range []struct {
		every time.Duration // 0: never
		burst int
	}{{0, 0}, {time.Second, 1}, {10 * time.Second, 10}} {
		stop := func() {}
		if phase.every > 0 {
			stop = publish(t, e.Dial(e.Issue(harness.AllowAll("room")).Token), phase.every, phase.burst)
		}
		time.Sleep(c.KeepAlive * 3 / 2) // they get used to it
		pings := func() float64 {       // what came, and was no publish
			m := e.Metrics()
			return (m["millrace_bytes_in_total"] - m["millrace_messages_in_total"]*float64(len(harness.RawPublish(crowdTenant, crowdChannel, "x")))) / float64(len("PING"))
		}
		before, during := pings(), harness.AtLength(time.Second, 130*time.Second)
		measure(e, fmt.Sprintf("%d messages every %v", phase.burst, phase.every), func() { time.Sleep(during) })
		t.Logf("%.1f PINGs a second", (pings()-before)/during.Seconds())
		stop()
	}
	clients.End("crowd:")
}

// How many confirmed messages of 128 bytes an edge stores, and what it costs that clients come
// back at once, each of whom has missed 100 messages. All get them, and others theirs.
func TestHistoryLoad(t *testing.T) {
	t.Parallel()
	for _, store := range harness.AtLength([]string{"memory"}, []string{"memory", "badger {{.Dir}}/histories", "nats"}) {
		join := func(*harness.Edge) {}
		if store == "nats" {
			url := harness.StartNATS(t, 1)[0].URL()
			join = func(e *harness.Edge) { e.Broker = "nats " + url }
		}
		e := harness.StartEdge(t, history.Caddyfile(store, "size 512MiB"), join)
		token := e.Issue(history.AllowHistory("room")).Token
		const missed = 100
		first, _ := storeNumbers(t, e, token, crowdChannel, missed+1)

		messages := harness.AtLength(200, 20_000) // of each publisher
		var answers latencies
		var publishers sync.WaitGroup
		measure(e, fmt.Sprintf("%.6s: %d messages", store, 16*messages), func() {
			for i := range 16 {
				publishers.Go(func() {
					_, took := storeNumbers(t, e, token, fmt.Sprintf("chat.%d", i), messages)
					answers.Add(took)
				})
			}
			publishers.Wait()
		})
		t.Logf("each publisher was done after %v", &answers)

		others := startTraffic(t, e, e, 1, 1, 100*time.Millisecond)
		others.apart.Store(true)
		c := &crowd{N: harness.SoakCount(t, 20, 10_000), After: first, Missed: missed}
		measure(e, fmt.Sprintf("%.6s: %d clients come back", store, c.N), func() {
			p := c.Start(t, e)
			p.Await("all have what they missed", patience)
			p.End("crowd:")
		})
		others.End()
		t.Logf("others' messages meanwhile %v; before %v", &others.meanwhile, &others.usual)
		e.Stop()
	}
}

// storeNumbers publishes numbers to a history, 64 at a time but for the crowd's channel, and
// returns the position of the first.
func storeNumbers(t *testing.T, e *harness.Edge, token, channel string, n int) (first string, took time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	c, err := client.Connect(ctx, []string{e.HttpURL("")}, client.Options{Token: token, Transports: []client.Transport{client.WebSocket}, AllowPlaintext: true})
	if err != nil {
		t.Error(err)
		return "", 0
	}
	defer c.Close()
	begin := time.Now()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	room := make(chan struct{}, 64)
	for i := range n {
		store := func() string {
			at, err := c.PublishConfirmed(ctx, crowdTenant, channel, []byte(strconv.Itoa(i)))
			if err != nil {
				t.Error(err)
			}
			return at
		}
		if channel == crowdChannel { // in order
			if at := store(); i == 0 {
				first = at
			}
			continue
		}
		room <- struct{}{}
		waiting.Go(func() { store(); <-room })
	}
	waiting.Wait()
	return first, time.Since(begin)
}

// What a crowd in one channel costs an edge and those who watch: all join at once, nothing
// happens, one more joins. docs/performance.md has the figures.
func TestPresenceLoad(t *testing.T) {
	t.Parallel()
	members := harness.SoakCount(t, 50, 10_000)
	l := &presenceLoad{t: t, edge: harness.StartEdge(t, harness.WithPresence("members 100000", "linger 1s"))}
	var opening sync.WaitGroup
	l.clients = make([]*presenceClient, members+1) // the last one joins after the others
	for at := range 16 {
		opening.Go(func() {
			for i := at; i <= members; i += 16 {
				c := &presenceClient{Socket: l.edge.Dial(l.edge.SubjectToken(fmt.Sprintf("member.%d", i), "", harness.PresenceTenant))}
				l.clients[i] = c
				l.reading.Go(c.Listen)
			}
		})
	}
	opening.Wait()
	t.Cleanup(func() {
		for _, c := range l.clients {
			c.Ws().Close()
		}
		l.reading.Wait()
	})
	l.crowd("a tenth watches", members/10, false)
	l.crowd("all watch", members, false)
	l.crowd("all watch counts", members, true)
}

// presenceLoad is a crowd, each of whom has a subject and a connection of its own.
type presenceLoad struct {
	t       *testing.T
	edge    *harness.Edge
	clients []*presenceClient
	reading sync.WaitGroup
}

// presenceClient counts what it gets: a view of each watcher would be 10,000 times 10,000 members.
type presenceClient struct {
	*harness.Socket
	bytes, entries, members, answers atomic.Int64 // members are what the last count says
}

// Listen counts what comes until the connection ends.
func (c *presenceClient) Listen() {
	for {
		_ = c.Ws().SetReadDeadline(time.Time{})
		kind, message, err := c.Ws().ReadMessage()
		if err != nil {
			return
		}
		if kind == websocket.TextMessage {
			c.answers.Add(1)
			continue
		}
		rest := message[2:]
		for range 2 { // tenant and pattern
			rest = rest[2+binary.BigEndian.Uint16(rest):]
		}
		c.bytes.Add(int64(len(message)))
		if message[1]&4 == 0 {
			c.entries.Add(int64(binary.BigEndian.Uint16(rest)))
		} else if n := len(rest); n > 2 {
			c.members.Store(int64(binary.BigEndian.Uint32(rest[n-4:])))
		}
	}
}

// Send sends a line of each client, and awaits the answers.
func (l *presenceLoad) Send(clients []*presenceClient, line string) {
	l.t.Helper()
	var before []int64
	for _, c := range clients {
		before = append(before, c.answers.Load())
		c.SendLine(line)
	}
	for i, c := range clients {
		await(l.t, "an answer to "+line, func() bool { return c.answers.Load() > before[i] })
	}
}

// crowd has all join while some watch.
func (l *presenceLoad) crowd(name string, watchers int, count bool) {
	l.t.Helper()
	n := len(l.clients) - 1
	watching, room := l.clients[:watchers], ":"+harness.PresenceTenant+":room.1"
	who := "WHO" + room
	if count {
		who += ":count"
	}
	l.Send(watching, who)
	step := func(what string, do func()) {
		l.t.Helper()
		var before, got []int64
		for _, c := range watching {
			before = append(before, c.bytes.Load())
		}
		measure(l.edge, name+", "+what, do)
		for i, c := range watching {
			got = append(got, c.bytes.Load()-before[i])
		}
		slices.Sort(got)
		l.t.Logf("%d watchers, %d members: at the median %d bytes", watchers, n, got[watchers/2])
	}
	know := func(members int) {
		l.t.Helper()
		await(l.t, "all to know "+strconv.Itoa(members), func() bool {
			return !slices.ContainsFunc(watching, func(c *presenceClient) bool {
				known := &c.entries
				if count {
					known = &c.members
				}
				return known.Load() != int64(members)
			})
		})
	}
	step("a crowd joins", func() { l.Send(l.clients[:n], "JOIN"+room); know(n) })
	step("idle", func() { time.Sleep(harness.AtLength(100*time.Millisecond, 10*time.Second)) })
	step("one joins", func() { l.Send(l.clients[n:], "JOIN"+room); know(n + 1) })
	l.Send(watching, strings.TrimSuffix("UN"+who, ":count"))
	l.Send(l.clients, "LEAVE"+room)
	for _, c := range l.clients {
		for _, counter := range []*atomic.Int64{&c.bytes, &c.entries, &c.members} {
			counter.Store(0)
		}
	}
}

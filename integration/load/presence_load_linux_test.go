package load

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
)

// What a crowd in one channel costs an edge and those who watch: all join at once, nothing
// happens, one more joins. With 1,000 watchers, with all of the crowd, and with all of them
// who are told counts alone. docs/performance.md has the figures.
func TestPresenceLoad(t *testing.T) {
	t.Parallel()
	members := harness.SoakCount(t, 200, 10_000)
	e := harness.StartEdge(t, harness.WithPresence("members 100000", "linger 1s"))
	l := &presenceLoad{t: t, edge: e, clients: make([]*loadClient, members+1)}
	l.Connect()
	for _, c := range []struct {
		name     string
		watchers int
		count    bool
	}{
		{"a tenth watches", members / 10, false},
		{"all watch", members, false},
		{"all watch counts", members, true},
	} {
		l.crowd(c.name, c.watchers, c.count)
	}
}

// presenceLoad is a crowd, each of whom has a subject and a connection of its own.
type presenceLoad struct {
	t       *testing.T
	edge    *harness.Edge
	clients []*loadClient // the last one joins after the others
	reading sync.WaitGroup
}

type loadClient struct {
	conn *websocket.Conn

	frames, bytes, entries, counts atomic.Int64 // of presence; counts are the frames with counts
	members                        atomic.Int64 // that the last count says
	answers                        atomic.Int64
}

func (l *presenceLoad) Connect() {
	l.t.Helper()
	work := make(chan int)
	var opening sync.WaitGroup
	for range 16 {
		opening.Go(func() {
			for i := range work {
				token := l.edge.SubjectToken(fmt.Sprintf("member.%d", i), "", harness.PresenceTenant)
				s, refused, err := l.edge.TryOpen(harness.Handshake{Token: token})
				if err != nil || s == nil {
					l.t.Errorf("%v, %s", err, refused.Body)
					continue
				}
				c := &loadClient{conn: s.Ws()}
				l.clients[i] = c
				l.reading.Go(c.Read)
			}
		})
	}
	for i := range l.clients {
		work <- i
	}
	close(work)
	opening.Wait()
	if l.t.Failed() {
		l.t.FailNow()
	}
	l.t.Cleanup(func() {
		for _, c := range l.clients {
			c.conn.Close()
		}
		l.reading.Wait()
	})
}

// Read counts what comes until the connection ends.
func (c *loadClient) Read() {
	for {
		_ = c.conn.SetReadDeadline(time.Time{})
		kind, message, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		if kind == harness.AsText {
			c.answers.Add(1)
			continue
		}
		rest := message[2:]
		for range 2 { // tenant and pattern
			rest = rest[2+binary.BigEndian.Uint16(rest):]
		}
		c.frames.Add(1)
		c.bytes.Add(int64(len(message)))
		if message[1]&4 == 0 {
			c.entries.Add(int64(binary.BigEndian.Uint16(rest)))
			continue
		}
		c.counts.Add(1)
		if n := len(rest); n > 2 {
			c.members.Store(int64(binary.BigEndian.Uint32(rest[n-4:])))
		}
	}
}

func (l *presenceLoad) Send(clients []*loadClient, line string) {
	l.t.Helper()
	var before []int64
	for _, c := range clients {
		before = append(before, c.answers.Load())
	}
	for _, c := range clients {
		if err := c.conn.WriteMessage(harness.AsText, []byte(line)); err != nil {
			l.t.Fatal(err)
		}
	}
	for i, c := range clients {
		l.Await("an answer to "+line, func() bool { return c.answers.Load() > before[i] })
	}
}

// crowd has all join while some watch.
func (l *presenceLoad) crowd(name string, watchers int, count bool) {
	l.t.Helper()
	n := len(l.clients) - 1
	crowd, last, watching := l.clients[:n], l.clients[n:], l.clients[:watchers]
	who := "WHO:" + harness.PresenceTenant + ":room.1"
	if count {
		who += ":count"
	}
	l.Send(watching, who)
	for _, c := range watching {
		l.Await("the first frame", func() bool { return c.frames.Load() > 0 })
	}
	knows := func(members int) func() bool {
		return func() bool {
			return !slices.ContainsFunc(watching, func(c *loadClient) bool {
				if count {
					return c.members.Load() != int64(members)
				}
				return c.entries.Load() != int64(members)
			})
		}
	}
	l.measure(name+", a crowd joins", watching, func(begin time.Time) {
		l.Send(crowd, "JOIN:"+harness.PresenceTenant+":room.1")
		l.t.Logf("%s: %d JOINs were answered after %v", name, n, time.Since(begin))
		l.Await("all to know all", knows(n))
	})
	l.measure(name+", idle", watching, func(time.Time) { time.Sleep(harness.AtLength(time.Second, 10*time.Second)) })
	l.measure(name+", one joins", watching, func(time.Time) {
		l.Send(last, "JOIN:"+harness.PresenceTenant+":room.1")
		l.Await("all to know one more", knows(n+1))
	})

	l.Send(watching, "UNWHO:"+harness.PresenceTenant+":room.1")
	l.Send(l.clients, "LEAVE:"+harness.PresenceTenant+":room.1")
	for _, c := range l.clients {
		for _, counter := range []*atomic.Int64{&c.frames, &c.bytes, &c.entries, &c.counts, &c.members} {
			counter.Store(0)
		}
	}
}

// Await polls for longer than other tests: gigabytes come.
func (l *presenceLoad) Await(what string, ready func() bool) {
	l.t.Helper()
	for end := time.Now().Add(harness.AtLength(harness.WaitTimeout, 10*time.Minute)); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// measure says what something costs the edge, and what watchers got meanwhile.
func (l *presenceLoad) measure(name string, watching []*loadClient, do func(begin time.Time)) {
	l.t.Helper()
	type got struct{ frames, bytes, counts int64 }
	var before []got
	for _, c := range watching {
		before = append(before, got{c.frames.Load(), c.bytes.Load(), c.counts.Load()})
	}
	cpu, begin := cpuTime(l.edge), time.Now()
	do(begin)
	took, used := time.Since(begin), cpuTime(l.edge)-cpu
	var frames, bytes, counts []int64
	all := int64(0)
	for i, c := range watching {
		frames, counts = append(frames, c.frames.Load()-before[i].frames), append(counts, c.counts.Load()-before[i].counts)
		bytes = append(bytes, c.bytes.Load()-before[i].bytes)
		all += bytes[i]
	}
	middle := func(list []int64) int64 { slices.Sort(list); return list[len(list)/2] }
	l.t.Logf("%s: %d watchers, %d members: %v, CPU of the edge %v; %d bytes in all, at the median %d bytes, %d frames, %d of them with counts",
		name, len(watching), len(l.clients)-1, took.Round(time.Millisecond), used, all, middle(bytes), middle(frames), middle(counts))
}

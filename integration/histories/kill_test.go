package histories

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// An edge is killed while somebody publishes 1,000 messages and waits for each to be stored.
// Started anew on the same folder, it has all that it called stored.
func TestHistoryKills(t *testing.T) {
	t.Parallel()
	killHistories(t, history.Caddyfile("badger {{.Dir}}/histories", "messages 100000"))
}

// The same with a history in NATS, whose server goes on.
func TestHistoryKillsNATS(t *testing.T) {
	t.Parallel()
	node := harness.StartNATS(t, 1)[0]
	killHistories(t, history.Caddyfile("nats", "messages 100000"), func(e *harness.Edge) { e.Broker = "nats " + node.URL() })
}

const (
	killPublishes = 1000 // of each round
	killWindow    = 200  // of them wait for their answers
)

// killHistories kills an edge with the history chat again and again. The Caddyfile says where
// it keeps it, so that each store that outlives the process can be tested.
func killHistories(t *testing.T, caddyfile string, opts ...harness.Option) {
	t.Helper()
	random := rand.New(rand.NewPCG(harness.Seed(t), 0))
	dir := t.TempDir()
	opts = append(opts, harness.InDir(dir))
	e := harness.StartEdge(t, caddyfile, opts...)
	k := &killRun{t: t, token: e.Issue(history.AllowHistory("paint.a")).Token, received: map[string]wire.Position{}}
	s := e.Dial(k.token)
	s.SendLine("RSUB:paint.a:chat.#:now")
	_, first := k.Read(s)
	s.Close()

	at := first
	rounds, unconfirmed, repeated := harness.SoakCount(t, 5, 200), 0, 0
	for round := range rounds {
		messages := make([]killMessage, killPublishes)
		for i := range messages {
			messages[i] = killMessage{
				number: i, channel: fmt.Sprintf("chat.%d", random.IntN(5)),
				payload: fmt.Sprintf("%d %d %s", round, i, strings.Repeat("x", random.IntN(300))),
			}
			if random.IntN(2) == 0 {
				messages[i].key = fmt.Sprintf("%d.%d", round, i)
			}
		}
		live := k.listen(e)
		sent := k.Publish(e, messages, 1+random.IntN(killPublishes-1))
		e = harness.StartEdge(t, caddyfile, append(opts, harness.Replacing(e))...)

		// What the killed edge has stored, from the store. Nobody saw more of it.
		s := e.Dial(k.token)
		s.SendLine(string(wire.AppendRsub(nil, "paint.a", "chat.#", wire.From{Origin: wire.OriginPosition, Position: at})))
		stored, until := k.Read(s)
		k.Check(stored, messages)
		for i, m := range <-live {
			if i >= len(stored) || stored[i] != m {
				t.Errorf("round %d: message %d that a subscriber got was %v, and is not stored", round, i, m)
				break
			}
		}
		s.Close()

		// The rest, and what has a key once more.
		var rest []killMessage
		for i := range messages {
			m := &messages[i]
			if m.confirmed == (wire.Position{}) && (m.key != "" || i >= sent) {
				if i < sent {
					repeated++
				}
				rest = append(rest, *m)
			}
		}
		k.Publish(e, rest, 0)
		for _, m := range rest {
			messages[m.number] = m
		}
		s = e.Dial(k.token)
		s.SendLine(string(wire.AppendRsub(nil, "paint.a", "chat.#", wire.From{Origin: wire.OriginPosition, Position: until})))
		stored, at = k.Read(s)
		k.Check(stored, messages)
		s.Close()
		for _, m := range messages {
			got, is := k.received[m.payload]
			switch {
			case m.confirmed == (wire.Position{}):
				unconfirmed++ // it may be there, or not
			case !is || got != m.confirmed:
				t.Errorf("round %d: message %d was confirmed at %v, and stands at %v", round, m.number, m.confirmed, got)
			}
		}
		if t.Failed() {
			return
		}
	}

	// All of it, as somebody reads it who was away all the time.
	s = e.Dial(k.token)
	s.SendLine(string(wire.AppendRsub(nil, "paint.a", "chat.#", wire.From{Origin: wire.OriginPosition, Position: first})))
	all, _ := k.Read(s)
	if len(all) != len(k.received) {
		t.Errorf("%d messages are stored, and %d were received round by round", len(all), len(k.received))
	}
	for _, m := range all {
		if at, is := k.received[m.payload]; !is || at != m.at {
			t.Fatalf("%v was at %v", m, at)
		}
	}
	s.Close()
	t.Logf("%d kills, %d messages are stored; %d were without a key and an answer, %d were published again with their keys", rounds, len(all), unconfirmed, repeated)
	e.Stop()
}

// killMessage is a message of a round.
type killMessage struct {
	number                int
	channel, payload, key string
	confirmed             wire.Position // zero: no answer came
}

// storedMessage is one that a subscriber got.
type storedMessage struct {
	at      wire.Position
	payload string
}

type killRun struct {
	t        *testing.T
	token    string
	received map[string]wire.Position // by payload
}

// Publish publishes messages, and notes the answers. The edge is killed when killAt of them
// have come; 0: it is not. It returns how many messages may have reached the edge.
func (k *killRun) Publish(e *harness.Edge, messages []killMessage, killAt int) int {
	k.t.Helper()
	s := e.Dial(k.token)
	window, ended, stopped := make(chan struct{}, killWindow), make(chan struct{}), make(chan struct{})
	var sent atomic.Int32
	go func() { // ends with the messages, or the connection
		defer close(stopped)
		for i := range messages {
			m := &messages[i]
			select {
			case window <- struct{}{}:
			case <-ended:
				return
			}
			frame := wire.AppendPublish(nil, wire.Publish{
				Confirm: true, ID: uint32(i), Key: []byte(m.key), Tenant: []byte("paint.a"), Channel: []byte(m.channel), Payload: []byte(m.payload),
			})
			sent.Add(1)
			if s.Write(harness.AsFrame, frame) != nil {
				return
			}
		}
	}()
	answers := map[uint32]wire.Position{}
	for len(answers) < len(messages) {
		_, text, err := s.Read()
		if err != nil {
			if killAt == 0 {
				k.t.Fatalf("after %d answers: %v", len(answers), err)
			}
			break
		}
		line, err := wire.ParseServerLine(text)
		s.Must(err)
		if line.Kind != wire.KindOKPub || !line.Stored {
			k.t.Fatalf("got %q", text)
		}
		answers[line.ID] = line.Position
		<-window
		if len(answers) == killAt {
			e.Kill()
		}
	}
	close(ended)
	_ = s.Cut()
	<-stopped
	for id, at := range answers {
		messages[id].confirmed = at
	}
	return int(sent.Load())
}

// listen collects what a subscriber gets until the edge is killed.
func (k *killRun) listen(e *harness.Edge) <-chan []storedMessage {
	k.t.Helper()
	s := e.Dial(k.token)
	s.SendLine("RSUB:paint.a:chat.#:now")
	k.Read(s)
	list := make(chan []storedMessage, 1)
	go func() { // ends with the connection
		var got []storedMessage
		for {
			kind, message, err := s.Read()
			if err != nil {
				list <- got
				return
			}
			if d, err := wire.DecodeDeliver(message); kind == harness.AsFrame && err == nil {
				got = append(got, storedMessage{d.Position, string(d.Payload)})
			}
		}
	}()
	return list
}

// Read reads until a subscription has caught up, which must be complete, and returns where it
// stands then.
func (k *killRun) Read(s *harness.Socket) (list []storedMessage, at wire.Position) {
	k.t.Helper()
	for {
		kind, message, err := s.Read()
		s.Must(err)
		if kind == harness.AsFrame {
			d, err := wire.DecodeDeliver(message)
			s.Must(err)
			if len(list) > 0 && d.Position.N <= list[len(list)-1].at.N {
				k.t.Fatalf("%v comes after %v", d.Position, list[len(list)-1].at)
			}
			list = append(list, storedMessage{d.Position, string(d.Payload)})
			continue
		}
		line, err := wire.ParseServerLine(message)
		s.Must(err)
		if line.Kind != wire.KindOKRsub || !line.Complete {
			k.t.Fatalf("got %q", message)
		}
		return list, line.Position
	}
}

// Check notes what is stored of a round: no message twice, and, as one connection has
// published all of it, in the order in which it did.
func (k *killRun) Check(stored []storedMessage, messages []killMessage) {
	k.t.Helper()
	last := -1
	for _, m := range stored {
		var round, number int
		if _, err := fmt.Sscan(m.payload, &round, &number); err != nil || number >= len(messages) || messages[number].payload != m.payload {
			k.t.Fatalf("%.30q at %v is none of this round", m.payload, m.at)
		}
		if number <= last {
			k.t.Errorf("round %d: %d is stored after %d", round, number, last)
		}
		last = number
		if at, twice := k.received[m.payload]; twice {
			k.t.Errorf("round %d: %d is stored twice, at %v and %v", round, number, at, m.at)
		}
		k.received[m.payload] = m.at
	}
}

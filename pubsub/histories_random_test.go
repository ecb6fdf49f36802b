package pubsub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// feedTransport hands what is written to a test, slowly if it is told to.
type feedTransport struct {
	discard
	slow time.Duration // for each write
	take func(Outgoing)
	mu   sync.Mutex // guards cut
	cut  bool
}

func (f *feedTransport) Write(msgs []Outgoing) error {
	time.Sleep(f.slow)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range msgs {
		if f.cut {
			return errors.New("cut")
		}
		f.take(m)
	}
	return nil
}

// stop cuts the connection: nothing is taken any more.
func (f *feedTransport) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = true
}

func attach(t *testing.T, h *Hub, f *feedTransport) *Session {
	t.Helper()
	s, err := h.Admit(Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, Client{Transport: "test"})
	must(t, err)
	s.Attach(f)
	return s
}

// checked is a run of publishers and subscribers in a bubble, whose history is checked.
type checked struct {
	*rig
	check *historycheck.Checker
	seed  uint64
	stop  chan struct{} // closed when the publishers have ended
	group sync.WaitGroup
}

// checkHistories runs a test, with publishers of so many messages; what it starts in the group
// ends when these have ended.
func checkHistories(
	t *testing.T, limits Limits, store history.Store, publishers, messages int, start func(*checked),
) historycheck.Summary {
	seed, check := rand.Uint64(), historycheck.New()
	t.Logf("seed %d", seed)
	withStore(t, limits, store, func(r *rig) {
		c := &checked{rig: r, check: check, seed: seed, stop: make(chan struct{})}
		start(c)
		var all sync.WaitGroup
		for i := range publishers {
			all.Go(func() { c.publish(c.random(10+i), i, messages) })
		}
		all.Wait()
		close(c.stop)
		c.group.Wait()
	})
	sum := check.Finish()
	for _, fault := range sum.Faults {
		t.Error(fault)
	}
	t.Logf("%d confirmed, %d received, %d resumed, %d complete, %d gaps",
		sum.Confirmed, sum.Received, sum.Resumed, sum.Complete, sum.Gaps)
	return sum
}

func (c *checked) random(stream int) *rand.Rand { return rand.New(rand.NewPCG(c.seed, uint64(stream))) }

// Random publishers, and subscribers that come and go by position and read slowly, while
// limits change and channels are purged. Whoever was told complete has everything.
func TestHistoriesRandom(t *testing.T) {
	for range 4 {
		store := memory.New()
		sum := checkHistories(t, with(func(l *Limits) { l.SendQueue = 32 << 10 }), store, 3, 3000, func(c *checked) {
			use := func(messages int) {
				d := chat(func(d *history.Definition) { d.Limits.Messages = messages })
				if err := c.hub.SetHistories(setOf(t, d), store); err != nil {
					t.Error(err)
				}
			}
			use(100)
			for i := range 6 {
				c.group.Go(func() { c.resume(c.random(20+i), i) })
			}
			random := c.random(1)
			c.group.Go(func() {
				for sleep(time.Duration(1+random.IntN(30))*time.Millisecond, c.stop) {
					switch random.IntN(4) {
					case 0:
						use(10)
					case 1:
						if _, err := store.Purge("chat", "t", fmt.Sprintf("chat.%d", random.IntN(4))); err != nil {
							t.Error(err)
						}
					default:
						use(100)
					}
				}
			})
		})
		if sum.Confirmed == 0 || sum.Received == 0 || sum.Complete == 0 {
			t.Error("the run checked nothing")
		}
	}
}

// lateStore answers a page late: messages are handed on between a page and its use.
type lateStore struct{ *memory.Store }

func (s lateStore) Read(ctx context.Context, q history.Query) (history.Page, error) {
	p, err := s.Store.Read(ctx, q)
	time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
	return p, err
}

// Subscribers of many sessions go live again and again while messages come without a
// pause, and nothing is removed: not one is missing, and not one comes twice.
func TestHistoriesSeam(t *testing.T) {
	messages := 1000 // of each publisher
	if os.Getenv("MILLRACE_SOAK") != "" {
		messages = 10_000
	}
	for complete := 0; complete < 20 && !t.Failed(); { // on a busy machine few resume during a run
		store := lateStore{memory.New()}
		sum := checkHistories(t, fastLimits(), store, 2, messages, func(c *checked) {
			all := chat(func(d *history.Definition) { d.Limits.Messages = history.MaxMessages })
			must(t, c.hub.SetHistories(setOf(t, all), store))
			var crowd []*Session
			for range 500 { // which a message takes a while to reach
				s := attach(t, c.hub, &feedTransport{take: func(Outgoing) {}})
				s.HandleLine([]byte("RSUB:t:chat.#:now"))
				crowd = append(crowd, s)
			}
			for i := range 6 {
				c.group.Go(func() { c.resumeQuickly(i) })
			}
			c.group.Go(func() {
				<-c.stop
				for _, s := range crowd {
					s.Detach()
				}
			})
		})
		if sum.Gaps > 0 {
			t.Errorf("%d gaps where nothing is removed", sum.Gaps)
		}
		complete += sum.Complete
	}
}

// follow returns a subscriber and what takes for it what comes, and sends the kind of each OK.
func (c *checked) follow(name, tenant, text string) (*historycheck.Subscriber, func(Outgoing), <-chan wire.ServerKind) {
	p, err := pattern.Parse(text)
	must(c, err)
	sub, oks := c.check.Subscriber(name, tenant, p), make(chan wire.ServerKind, 1)
	return sub, func(m Outgoing) {
		if m.Kind == Binary {
			d, err := wire.DecodeDeliver(m.Data)
			if err != nil {
				c.Error(err)
			}
			sub.Message(d)
			return
		}
		l, err := wire.ParseServerLine(m.Data)
		if err != nil {
			c.Error(err)
		}
		if l.Kind != wire.KindOK {
			sub.Line(l)
		}
		if l.Kind == wire.KindOK || l.Kind == wire.KindOKRsub {
			oks <- l.Kind
		}
	}, oks
}

// resumeQuickly subscribes on one connection, unsubscribes when it has a few messages, and
// resumes.
func (c *checked) resumeQuickly(self int) {
	sub, take, oks := c.follow(fmt.Sprint(self), "t", "chat.#")
	s := attach(c.T, c.hub, &feedTransport{take: take})
	defer s.Detach()
	for running := true; running; {
		running = sleep(time.Millisecond, c.stop)
		s.HandleLine(wire.AppendRsub(nil, "t", "chat.#", sub.Begin()))
		<-oks
		running = running && sleep(time.Millisecond, c.stop) // live for a moment
		s.HandleLine([]byte("UNSUB:t:chat.#"))
		<-oks
	}
	s.HandleLine(wire.AppendRsub(nil, "t", "chat.#", sub.Begin()))
	<-oks
}

// publish publishes to a few channels, in bursts, and repeats some with their keys.
func (c *checked) publish(random *rand.Rand, self, messages int) {
	type sent struct{ tenant, channel, payload string }
	var mu sync.Mutex
	answers := sync.NewCond(&mu)
	open := map[uint32]sent{}
	s := attach(c.T, c.hub, &feedTransport{take: func(m Outgoing) {
		l, err := wire.ParseServerLine(m.Data)
		if m.Kind != Text || err != nil || l.Kind != wire.KindOKPub || !l.Stored {
			c.Errorf("a publisher got %q", m.Data)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		s := open[l.ID]
		delete(open, l.ID)
		c.check.Confirmed(s.tenant, s.channel, s.payload, l.Position)
		answers.Signal()
	}})
	defer s.Detach()
	id := uint32(0)
	for i := range messages {
		m := sent{[]string{"t", "u"}[random.IntN(2)], fmt.Sprintf("chat.%d", random.IntN(4)), fmt.Sprintf("%d.%d", self, i)}
		key, tries := "", 1
		if random.IntN(3) == 0 { // the same keys for both tenants
			key, tries = fmt.Sprintf("%d.%d", self, i/2), 1+random.IntN(2)
			m.payload = key + m.tenant
		}
		for range tries {
			id++
			mu.Lock()
			open[id] = m
			mu.Unlock()
			s.Ready(time.Hour)
			s.HandleFrame(wire.AppendPublish(nil, wire.Publish{
				Confirm: true, ID: id, Key: []byte(key), Tenant: []byte(m.tenant), Channel: []byte(m.channel), Payload: []byte(m.payload),
			}))
		}
		if random.IntN(4) == 0 {
			time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond) // a pause between bursts
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for len(open) > 0 {
		answers.Wait()
	}
}

// resume subscribes, reads for a while, leaves, sleeps, and resumes.
func (c *checked) resume(random *rand.Rand, self int) {
	text, tenant := []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)], []string{"t", "u"}[random.IntN(2)]
	sub, take, oks := c.follow(fmt.Sprintf("%d %s %s", self, tenant, text), tenant, text)
	for running, last := true, false; !last; {
		last = !running // once more, until it has all
		f := &feedTransport{take: take}
		if !last && random.IntN(2) == 0 {
			f.slow = time.Duration(random.IntN(4)) * time.Millisecond
		}
		s := attach(c.T, c.hub, f)
		s.HandleLine(wire.AppendRsub(nil, tenant, text, sub.Begin()))
		if last {
			<-oks
		} else {
			running = sleep(time.Duration(random.IntN(60))*time.Millisecond, c.stop)
		}
		f.stop()
		s.Detach()
		select { // what came before the cut
		case <-oks:
		default:
		}
		running = running && sleep(time.Duration(random.IntN(60))*time.Millisecond, c.stop)
	}
}

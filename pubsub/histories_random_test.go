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

	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// feedTransport hands what is written to a test, slowly if it is told to.
type feedTransport struct {
	slow time.Duration // for each write
	take func(Outgoing)
	mu   sync.Mutex // guards cut
	cut  bool
}

func (f *feedTransport) Write(msgs []Outgoing) error {
	if f.slow > 0 {
		time.Sleep(f.slow) // a client that reads slowly: there is nothing to wait for
	}
	for _, m := range msgs {
		f.mu.Lock()
		if f.cut {
			f.mu.Unlock()
			return errors.New("cut")
		}
		f.take(m)
		f.mu.Unlock()
	}
	return nil
}

func (f *feedTransport) Close(wire.CloseCode, string) error { return nil }
func (f *feedTransport) Abort()                             {}

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

// Random publishers, and subscribers that come and go by position and read slowly, while
// limits change and channels are purged. Whoever was told complete has everything.
func TestHistoriesRandom(t *testing.T) {
	for range 4 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			limits := fastLimits()
			limits.SendQueue = 32 << 10
			hub := NewHub(new(localBroker), limits, zap.NewNop())
			store, check := memory.New(), historycheck.New()
			use := func(messages int) {
				d := chat(func(d *history.Definition) { d.Limits.Messages = messages })
				must(t, hub.SetHistories(setOf(t, d), store))
			}
			use(100)

			stop := make(chan struct{})
			var publishers, others sync.WaitGroup
			for i := range 3 {
				publishers.Go(func() { publishRandomly(t, hub, check, rand.New(rand.NewPCG(seed, uint64(10+i))), i, 3000) })
			}
			for i := range 6 {
				others.Go(func() { resumeRandomly(t, hub, check, rand.New(rand.NewPCG(seed, uint64(20+i))), i, stop) })
			}
			others.Go(func() {
				for sleep(time.Duration(1+random.IntN(30))*time.Millisecond, stop) {
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
			publishers.Wait()
			close(stop)
			others.Wait()
			must(t, hub.Close())
			sum := check.Finish()
			for _, fault := range sum.Faults {
				t.Error(fault)
			}
			t.Logf("%d confirmed, %d received, %d resumed, %d complete, %d gaps", sum.Confirmed, sum.Received, sum.Resumed, sum.Complete, sum.Gaps)
			if sum.Confirmed == 0 || sum.Received == 0 || sum.Complete == 0 {
				t.Error("the run checked nothing")
			}
		})
	}
}

// lateStore answers a page late: messages are handed on between a page and its use.
type lateStore struct{ *memory.Store }

func (s lateStore) Read(ctx context.Context, q history.Query) (history.Page, error) {
	p, err := s.Store.Read(ctx, q)
	time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond) // what there is to be late for cannot be awaited
	return p, err
}

// Subscribers of many sessions go live again and again while messages come without a
// pause, and nothing is removed: not one is missing, and not one comes twice.
func TestHistoriesSeam(t *testing.T) {
	messages := 1000 // of each publisher
	if os.Getenv("MILLRACE_SOAK") != "" {
		messages = 10_000
	}
	hub := NewHub(new(localBroker), fastLimits(), zap.NewNop())
	store, check := lateStore{memory.New()}, historycheck.New()
	set := setOf(t, chat(func(d *history.Definition) { d.Limits.Messages = history.MaxMessages }))
	must(t, hub.SetHistories(set, store))
	crowd := make([]*Session, 500) // which a message takes a while to reach
	for i := range crowd {
		crowd[i] = attach(t, hub, &feedTransport{take: func(Outgoing) {}})
		crowd[i].HandleLine([]byte("RSUB:t:chat.#:now"))
	}
	stop := make(chan struct{})
	var publishers, others sync.WaitGroup
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range 2 {
		publishers.Go(func() { publishRandomly(t, hub, check, rand.New(rand.NewPCG(seed, uint64(10+i))), i, messages) })
	}
	for i := range 6 {
		others.Go(func() { resumeQuickly(t, hub, check, i, stop) })
	}
	publishers.Wait()
	close(stop)
	others.Wait()
	for _, s := range crowd {
		s.Detach()
	}
	must(t, hub.Close())
	sum := check.Finish()
	for _, fault := range sum.Faults {
		t.Error(fault)
	}
	t.Logf("%d confirmed, %d received, %d resumed, %d complete, %d gaps", sum.Confirmed, sum.Received, sum.Resumed, sum.Complete, sum.Gaps)
	if sum.Gaps > 0 || sum.Complete < 20 {
		t.Errorf("%d gaps where nothing is removed, %d complete", sum.Gaps, sum.Complete)
	}
}

// resumeQuickly subscribes on one connection, unsubscribes when it has a few messages, and
// resumes.
func resumeQuickly(t *testing.T, hub *Hub, check *historycheck.Checker, self int, stop <-chan struct{}) {
	p, err := pattern.Parse("chat.#")
	if err != nil {
		t.Error(err)
		return
	}
	sub := check.Subscriber(fmt.Sprint(self), "t", p)
	caughtUp, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	f := &feedTransport{take: func(m Outgoing) {
		if m.Kind == Binary {
			d, err := wire.DecodeDeliver(m.Data)
			if err != nil {
				t.Error(err)
			}
			sub.Message(d)
			return
		}
		l, err := wire.ParseServerLine(m.Data)
		switch {
		case err != nil:
			t.Error(err)
		case l.Kind == wire.KindOK:
			ended <- struct{}{}
		default:
			sub.Line(l)
			if l.Kind == wire.KindOKRsub {
				caughtUp <- struct{}{}
			}
		}
	}}
	s := attach(t, hub, f)
	defer s.Detach()
	for running := true; running; {
		running = sleep(time.Millisecond, stop)
		s.HandleLine(wire.AppendRsub(nil, "t", "chat.#", sub.Begin()))
		<-caughtUp
		if running {
			running = sleep(time.Millisecond, stop) // live for a moment
		}
		s.HandleLine([]byte("UNSUB:t:chat.#"))
		<-ended
	}
	s.HandleLine(wire.AppendRsub(nil, "t", "chat.#", sub.Begin()))
	<-caughtUp
}

// publishRandomly publishes to a few channels, in bursts, and repeats some with their
// keys.
func publishRandomly(t *testing.T, hub *Hub, check *historycheck.Checker, random *rand.Rand, self, messages int) {
	type sent struct{ tenant, channel, payload string }
	var mu sync.Mutex
	answers := sync.NewCond(&mu)
	open := map[uint32]sent{}
	f := &feedTransport{take: func(m Outgoing) {
		l, err := wire.ParseServerLine(m.Data)
		if m.Kind != Text || err != nil || l.Kind != wire.KindOKPub || !l.Stored {
			t.Errorf("a publisher got %q", m.Data)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		s := open[l.ID]
		delete(open, l.ID)
		check.Confirmed(s.tenant, s.channel, s.payload, l.Position)
		answers.Signal()
	}}
	s := attach(t, hub, f)
	defer s.Detach()
	id := uint32(0)
	for i := range messages {
		m := sent{[]string{"t", "u"}[random.IntN(2)], fmt.Sprintf("chat.%d", random.IntN(4)), fmt.Sprintf("%d.%d", self, i)}
		key := ""
		tries := 1
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
		if random.IntN(50) == 0 {
			time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond) // a pause between bursts
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for len(open) > 0 {
		answers.Wait()
	}
}

// resumeRandomly subscribes, reads for a while, leaves, sleeps, and resumes.
func resumeRandomly(t *testing.T, hub *Hub, check *historycheck.Checker, random *rand.Rand, self int, stop <-chan struct{}) {
	text := []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)]
	p, err := pattern.Parse(text)
	if err != nil {
		t.Error(err)
		return
	}
	tenant := []string{"t", "u"}[random.IntN(2)]
	sub := check.Subscriber(fmt.Sprintf("%d %s %s", self, tenant, text), tenant, p)
	for running, last := true, false; !last; {
		last = !running // once more, until it has all
		caughtUp := make(chan struct{})
		f := &feedTransport{take: func(m Outgoing) {
			if m.Kind == Binary {
				d, err := wire.DecodeDeliver(m.Data)
				if err != nil {
					t.Error(err)
				}
				sub.Message(d)
				return
			}
			l, err := wire.ParseServerLine(m.Data)
			if err != nil {
				t.Error(err)
			}
			sub.Line(l)
			if last && l.Kind == wire.KindOKRsub {
				close(caughtUp)
			}
		}}
		if !last && random.IntN(2) == 0 {
			f.slow = time.Duration(random.IntN(4)) * time.Millisecond
		}
		s := attach(t, hub, f)
		s.HandleLine(wire.AppendRsub(nil, tenant, text, sub.Begin()))
		if last {
			<-caughtUp
		} else {
			running = sleep(time.Duration(random.IntN(60))*time.Millisecond, stop)
		}
		f.stop()
		s.Detach()
		if running {
			running = sleep(time.Duration(random.IntN(60))*time.Millisecond, stop)
		}
	}
}

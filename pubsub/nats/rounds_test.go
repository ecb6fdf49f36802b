package nats

import (
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
)

// startWithSilentPeer starts a broker that knows of an edge that answers nothing.
func startWithSilentPeer(t *testing.T) *Broker {
	t.Helper()
	b, _ := startBroker(t, natstest.Connect(natstest.Server(t)))
	if _, err := b.peers.handleAnnouncement("", []byte(`{"v":1,"id":"00000000000000ff","state":"here"}`), time.Now()); err != nil {
		t.Fatal(err)
	}
	return b
}

// catchUpsOf counts the calls that wait for a round to begin, and the rounds under way.
func (b *Broker) catchUpsOf(tenant string) (waiting, underWay int) {
	b.catchUps.mu.Lock()
	defer b.catchUps.mu.Unlock()
	if t := b.catchUps.tenants[tenant]; t != nil {
		return len(t.waiting), len(t.rounds)
	}
	return 0, 0
}

// A call during a round does not wait for its end, but begins one of its own, and calls at
// the same time share one.
func TestRoundsOverlap(t *testing.T) {
	t.Parallel()
	b := startWithSilentPeer(t)
	ended := make(chan struct{}, 1000)
	calls := 0
	catchUp := func(n int) {
		for range n {
			b.CatchUp("t", func() { ended <- struct{}{} })
		}
		calls += n
	}
	for want := 1; want <= 3; want++ {
		catchUp(1)
		await(t, "another round", func() bool { _, n := b.catchUpsOf("t"); return n == want })
	}
	b.catchUps.mu.Lock()
	b.catchUps.tenants["t"].nextRound = time.Now().Add(time.Hour)
	b.catchUps.mu.Unlock()
	catchUp(500)
	if n, _ := b.catchUpsOf("t"); n != 500 {
		t.Errorf("%d wait, want 500", n)
	}
	b.catchUps.mu.Lock()
	b.catchUps.tenants["t"].nextRound = time.Time{}
	b.catchUps.mu.Unlock()
	catchUp(1) // which begins a round for all of them
	if waiting, underWay := b.catchUpsOf("t"); waiting != 0 || underWay != 4 {
		t.Errorf("%d wait, and %d rounds are under way, want 0 and 4", waiting, underWay)
	}
	for range calls { // that edge never answers
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Fatal("in vain")
		}
	}
	await(t, "nothing to be kept", func() bool {
		b.catchUps.mu.Lock()
		defer b.catchUps.mu.Unlock()
		return len(b.catchUps.tenants) == 0
	})
}

// A round does not wait for an edge that leaves.
func TestRoundsForgetEdges(t *testing.T) {
	t.Parallel()
	b := startWithSilentPeer(t)
	start, ended := time.Now(), make(chan struct{})
	b.CatchUp("t", func() { close(ended) })
	b.peers.remove(0xff)
	b.retainEdges(b.peers.otherIDs())
	<-ended
	if took := time.Since(start); took >= pubsub.CatchUpTime {
		t.Errorf("it was waited for for %v", took)
	}
}

// A link that has no room for now is still a link: the marker is sent later.
func TestRoundOnFullLink(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	b, _ := startBroker(t, natstest.Connect(s))
	other, _ := startBroker(t, natstest.Connect(s))
	await(t, "each other", func() bool { return len(b.peers.otherIDs()) == 1 && len(other.peers.otherIDs()) == 1 })
	b.mu.Lock()
	for len(b.records.bytes) < b.config.QueueBytes { // that nobody has told the writer of
		r := append(b.records.bytes, make([]byte, recordHeader)...)
		r = append(r, "elsewhere"...)
		split := len(r)
		b.records.add(append(r, make([]byte, 1<<20)...), split, []byte("t"))
	}
	b.mu.Unlock()
	ended := make(chan struct{})
	b.CatchUp("t", func() { close(ended) })
	select {
	case <-ended:
		t.Error("it was not waited for")
	default:
	}
	if waiting, _ := b.catchUpsOf("t"); waiting != 1 {
		t.Errorf("%d wait, want 1", waiting)
	}
	signal(b.wakeWriter)
	<-ended
}

package unixbroker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestPermissions(t *testing.T) {
	folder := filepath.Join(shortFolder(t), "made")
	b := edge(t, folder, new(recorder), nil)
	for path, want := range map[string]os.FileMode{folder: 0o700 | os.ModeDir, b.path(b.id): 0o600 | os.ModeSocket} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, info, err, want)
		}
	}
	if err := os.Chmod(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := New(folder, zap.NewNop()); err == nil || !strings.Contains(err.Error(), "(mode 0700), its mode is 0750") {
		t.Errorf("a folder that the group can open: %v", err)
	}
}

func TestFolderIsNone(t *testing.T) {
	file := filepath.Join(shortFolder(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(file, zap.NewNop()); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	folder := shortFolder(t)
	b, err := New(folder, zap.NewNop()) // without Join
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	if err := b.Publish(message("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("Publish after Close: %v", err)
	}
}

func TestSocketOfDeadProcess(t *testing.T) {
	folder, r := shortFolder(t), new(recorder)
	dead := filepath.Join(folder, edgeID(7).String()+suffix)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	edge(t, folder, r, nil)
	await(t, "the link", r.see(func() bool { return slices.Equal(r.links, []bool{false, true}) }))
	if _, err := os.Lstat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestConnectionLost(t *testing.T) {
	folder, r0, r1 := shortFolder(t), new(recorder), new(recorder)
	b0, b1 := edge(t, folder, r0, nil), edge(t, folder, r1, nil)
	subscribe(t, b1, "t", "a.*")
	connected(t, b0, 1)
	await(t, "the link", r0.see(func() bool { return len(r0.links)%2 == 0 }))
	r0.mu.Lock()
	before := len(r0.links)
	r0.mu.Unlock()
	b0.mu.Lock()
	b0.peers[b1.id].conn.Close()
	b0.mu.Unlock()
	await(t, "the link to be down and up", r0.see(func() bool { return len(r0.links) >= before+2 && r0.links[len(r0.links)-1] }))
	await(t, "a message", func() bool { // its interests come with the connection
		if err := b0.Publish(message("x")); err != nil {
			t.Fatal(err)
		}
		return r1.count() > 0
	})
}

// An edge that does not read loses what is published to it. The others get everything.
func TestPeerDoesNotRead(t *testing.T) {
	folder, r := shortFolder(t), new(recorder)
	b := edge(t, folder, new(recorder), func(s *settings) { s.queue, s.leave = 64<<10, 10*time.Millisecond })
	other := edge(t, folder, r, nil)
	subscribe(t, other, "t", "#")
	connected(t, b, 1)
	join(t, b)
	published, lost := 0, 0
	for lost < 10 {
		err := b.Publish(message(strings.Repeat("x", 4<<10)))
		if published++; err != nil {
			if !errors.Is(err, pubsub.ErrLinkFull) {
				t.Fatal(err)
			}
			lost++
		}
		await(t, "the other edge", func() bool { return r.count() == published })
	}
	one := message("one")
	one.Delivery = wire.OneNearest
	for range 20 {
		published++
		if err := b.Publish(one); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the other edge, which takes what one edge is to get", func() bool { return r.count() == published })
}

// A peer that takes nothing is dropped, and what waits for it is counted.
func TestPeerTakesNothing(t *testing.T) {
	r := new(recorder)
	b := edge(t, shortFolder(t), r, func(s *settings) { s.queue, s.silence = 64<<10, 200*time.Millisecond })
	large := message(strings.Repeat("x", 64<<10))
	await(t, "what it did not get to be counted", func() bool {
		b.mu.Lock()
		peers := len(b.peers)
		b.mu.Unlock()
		if peers == 0 { // at first; and when it was dropped before there was enough to count
			join(t, b)
		}
		_ = b.Publish(large) // also when there is no room
		return r.see(func() bool { return r.unsent > 0 })()
	})
	await(t, "the link without it", r.see(func() bool { return len(r.links) > 0 && r.links[len(r.links)-1] }))
}

// A peer that does not answer holds up confirmations until the link counts as down.
func TestPeerIsSilent(t *testing.T) {
	r := new(recorder)
	b := edge(t, shortFolder(t), r, func(s *settings) { s.silence = 200 * time.Millisecond })
	join(t, b)
	confirmed := make(chan []bool, 1)
	b.Subscribe("t", "a", func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		confirmed <- slices.Clone(r.links)
	})
	if links := <-confirmed; !slices.Contains(links, false) {
		t.Errorf("it was confirmed before Linked(false): %v", links)
	}
	await(t, "the link without it", r.see(func() bool { return r.links[len(r.links)-1] }))
}

func TestPeerBreaksTheProtocol(t *testing.T) {
	for name, frame := range map[string][]byte{
		"kind":       appendFrame(nil, 77),
		"length":     {0xff, 0, 0, 0, kindMessage},
		"no length":  {0, 0, 0, 0, 0},
		"message":    appendFrame(nil, kindMessage, []byte{9, 0, 0}),
		"number":     appendFrame(nil, kindSync, []byte{1}),
		"tenant":     appendInterest(nil, kindSubscribe, interest{"not legal", "a"}),
		"pattern":    appendInterest(nil, kindSubscribe, interest{"t", "a..b"}),
		"no pattern": appendFrame(nil, kindUnsubscribe, []byte{9}),
	} {
		t.Run(name, func(t *testing.T) {
			b := edge(t, shortFolder(t), new(recorder), nil)
			s := join(t, b)
			s.send(t, frame)
			connected(t, b, 0)
		})
	}
}

func TestIllegalNamesAreRejected(t *testing.T) {
	r := new(recorder)
	b := edge(t, shortFolder(t), r, nil)
	s := join(t, b)
	for _, m := range []pubsub.Message{
		{Tenant: []byte("not legal"), Channel: []byte("a")},
		{Tenant: []byte("t"), Channel: []byte("a..b"), Delivery: wire.OneRandom},
		{Tenant: []byte("t"), Channel: []byte("a")},
	} {
		s.send(t, appendMessage(nil, &m, search{}))
	}
	await(t, "the legal one", func() bool { return r.count() == 1 })
	if r.rejected != 2 {
		t.Errorf("rejected %d, want 2", r.rejected)
	}
}

func TestNobodyHasRoom(t *testing.T) {
	folder := shortFolder(t)
	full := func(pubsub.Message) int { return pubsub.NoRoom }
	r0, r1 := &recorder{answer: full}, &recorder{answer: full}
	b0, b1 := edge(t, folder, r0, nil), edge(t, folder, r1, nil)
	subscribe(t, b1, "t", "#")
	connected(t, b0, 1)
	m := message("x")
	m.Delivery, m.HasSubscribers = wire.OneNearest, true
	if err := b0.Publish(m); err != nil {
		t.Fatal(err)
	}
	total := func() int {
		n := 0
		for _, r := range []*recorder{r0, r1} {
			r.mu.Lock()
			n += r.unsent
			r.mu.Unlock()
		}
		return n
	}
	await(t, "the lost message to be counted", func() bool { return total() == 1 })
}

// What was sent to an edge that leaves is not lost.
func TestLeaving(t *testing.T) {
	folder, r0, r1, r2 := shortFolder(t), new(recorder), new(recorder), new(recorder)
	b0, b1, b2 := edge(t, folder, r0, nil), edge(t, folder, r1, nil), edge(t, folder, r2, nil)
	for _, b := range []*Broker{b1, b2} {
		subscribe(t, b, "t", "#")
	}
	connected(t, b0, 2)
	links := func() []bool {
		r0.mu.Lock()
		defer r0.mu.Unlock()
		return slices.Clone(r0.links)
	}
	await(t, "the link", func() bool { return len(links())%2 == 0 })
	linksBefore := links()
	const n = 2000
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for i := range n {
			m := message(fmt.Sprint(i))
			m.Delivery = wire.OneNearest
			if err := b0.Publish(m); err != nil {
				t.Error(err)
			}
		}
	})
	await(t, "the first messages", func() bool { return r1.count() > 0 })
	if err := b1.Close(); err != nil {
		t.Error(err)
	}
	atEnd := r1.count()
	publishing.Wait()
	await(t, "all messages", func() bool { return r1.count()+r2.count() == n })
	if got := r1.count(); got != atEnd {
		t.Errorf("%d messages came after Close", got-atEnd)
	}
	if got := links(); !slices.Equal(got, linksBefore) {
		t.Errorf("the other edge took it for a lost connection: Linked%v, before %v", got, linksBefore)
	}
}

// Edges that start at the same time have one connection for each pair.
func TestStartTogether(t *testing.T) {
	for range 10 {
		folder := shortFolder(t)
		brokers := make([]*Broker, 4)
		for i := range brokers {
			var err error
			if brokers[i], err = New(folder, zap.NewNop()); err != nil {
				t.Fatal(err)
			}
		}
		var joining sync.WaitGroup
		for _, b := range brokers {
			joining.Go(func() { b.Join(new(recorder)) })
		}
		joining.Wait()
		for _, b := range brokers {
			connected(t, b, len(brokers)-1)
		}
		for _, b := range brokers {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

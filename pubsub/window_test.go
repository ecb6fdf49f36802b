package pubsub

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// The answers to publishes to one channel come in their order, however early an outcome is known: of a repeat, of
// one that the store does not take or the edge refuses, and of one that is not kept. Other channels do not wait.
func TestOrderOfAnswers(t *testing.T) {
	store := &stuckStore{Store: memory.New(), stuck: true}
	withStore(t, with(func(l *Limits) { l.MaxPayload = 10 }), store, func(r *rig) {
		c := r.connect("a")
		to := func(d wire.Delivery, id uint32, confirm bool, key, channel, payload string) {
			c.HandleFrame(wire.AppendPublish(nil, wire.Publish{
				Delivery: d, Confirm: confirm, ID: id, Key: []byte(key), Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte(payload),
			}))
		}
		for id := range uint32(3) {
			c.confirmed(id+1, "", "chat.a", "x")
		}
		to(wire.Broadcast, 4, true, "", "chat.a", "more than 10 bytes")
		to(wire.OneNearest, 5, true, "", "chat.a", "x")
		to(wire.OneNearest, 6, true, "k", "chat.a", "x")
		to(wire.Broadcast, 0, false, "", "chat.a", "more than 10 bytes")
		c.confirmed(7, "", "chat.a", "x")
		c.confirmed(8, "", "chat.b", "x")
		to(wire.Broadcast, 9, true, "", "chat.c", "more than 10 bytes")
		to(wire.Broadcast, 10, true, "", "a..b", "x")
		c.expect("ERR:payload_too_large:PUB:9", "ERR:bad_channel:PUB:10")
		waiting := store.waiting
		at := wire.Position{Epoch: 1, N: 1, T: 1}
		waiting[4].Stored(waiting[4], history.Result{Err: history.ErrUnavailable})
		c.expect("ERR:history_unavailable:PUB:8")
		waiting[1].Stored(waiting[1], history.Result{Position: at, Repeated: true})
		waiting[2].Stored(waiting[2], history.Result{Err: history.ErrUnavailable})
		c.expect()
		waiting[0].Stored(waiting[0], history.Result{Err: history.ErrUnconfirmed})
		c.expect("ERR:unconfirmed:PUB:1", "OK:PUB:2:@1", "ERR:history_unavailable:PUB:3", "ERR:payload_too_large:PUB:4", "OK:PUB:5",
			"ERR:no_history:PUB:6", "ERR:payload_too_large:PUB:t:chat.a")
		to(wire.Broadcast, 11, true, "", "chat.a", "more than 10 bytes")
		waiting[3].Stored(waiting[3], history.Result{Position: at, Repeated: true})
		c.expect("OK:PUB:7:@1", "ERR:payload_too_large:PUB:11")
		to(wire.Broadcast, 12, true, "", "chat.a", "more than 10 bytes")
		c.expect("ERR:payload_too_large:PUB:12")
		if w := c.window; w.n != 0 || w.bytes != 0 || len(w.lastOf) != 0 || w.first != nil || w.last != nil {
			t.Errorf("the window has %+v", w)
		}
	})
}

// Answers that wait for an earlier one count for the window: there are never more of them.
func TestAnswersThatWaitAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		answer  func(id uint32) string
	}{
		"refused":               {"more than 10 bytes", func(id uint32) string { return fmt.Sprintf("ERR:payload_too_large:PUB:%d", id) }},
		"answered by the store": {"x", func(id uint32) string { return fmt.Sprintf("OK:PUB:%d:@%d", id, id-1) }},
	} {
		t.Run(name, func(t *testing.T) {
			store := &stuckStore{Store: memory.New(), stuck: true}
			withStore(t, with(func(l *Limits) { l.MaxPayload = 10 }), store, func(r *rig) {
				p := r.connect("a")
				p.confirmed(1, "", "chat.a", "x")
				store.stuck = false
				start, n := time.Now(), uint32(1)
				for time.Since(start) == 0 && n <= 2*maxWindow {
					n++
					p.confirmed(n, "", "chat.a", c.payload)
					synctest.Wait()
				}
				equal(t, "publishes until the window is full", n, maxWindow+1)
				equal(t, "time waited", time.Since(start), windowTimeout)
				got := p.takeShort()
				if len(got) != maxWindow+1 || got[0] != "ERR:unconfirmed:PUB:1" {
					t.Fatalf("%d answers: %q", len(got), got[:min(3, len(got))])
				}
				for i, line := range got[1:] {
					equal(t, "answer", line, c.answer(uint32(i+2)))
				}
				store.unstick()
				p.expect()
				equal(t, "messages in the window", p.window.n, 0)
			})
		})
	}
}

// Whatever the order in which outcomes come, of those of one channel all are told in the order of the publishes.
func TestRandomOrderOfAnswers(t *testing.T) {
	number := regexp.MustCompile(`:PUB:(\d+)`)
	store := &stuckStore{Store: memory.New(), stuck: true}
	withStore(t, with(func(l *Limits) { l.MaxPayload = 10 }), store, func(r *rig) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		c := r.connect("a")
		want, got := make([][]string, 5), make([][]string, 5)
		channelOf := map[string]int{}
		for id := uint32(1); id <= 2000; id++ {
			channel := random.IntN(len(want))
			channelOf[fmt.Sprint(id)] = channel
			want[channel] = append(want[channel], fmt.Sprint(id))
			c.confirmed(id, "", fmt.Sprint("chat.", channel), strings.Repeat("x", random.IntN(20)))
			for len(store.waiting) > random.IntN(100) {
				i := random.IntN(len(store.waiting))
				m := store.waiting[i]
				store.waiting = slices.Delete(store.waiting, i, i+1)
				m.Stored(m, history.Result{Err: history.ErrUnavailable})
			}
		}
		store.unstick()
		synctest.Wait()
		for _, line := range c.take() {
			id := number.FindStringSubmatch(line)[1]
			got[channelOf[id]] = append(got[channelOf[id]], id)
		}
		equal(t, "order", fmt.Sprint(got), fmt.Sprint(want))
	})
}

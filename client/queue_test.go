package client

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func numbered(n int) Message { return Message{Channel: strconv.Itoa(n)} }

func TestQueuePolicies(t *testing.T) {
	for _, limit := range []int{1, 2, direct - 1, direct, direct + 1, 1000} {
		for _, test := range []struct {
			policy      QueuePolicy
			result      pushed
			first, last int // of the messages that stay
		}{
			{DropOldest, dropped, 3, limit + 2},
			{DropNewest, dropped, 0, limit - 1},
			{EndOnFull, full, 0, limit - 1},
		} {
			bubble(t, fmt.Sprint(test.policy, limit), func(t *testing.T, _ *world) {
				var group sync.WaitGroup
				q := newQueue(limit, test.policy, &group, make(chan struct{}))
				for i := range limit {
					if got := q.push(numbered(i)); got != queued && got != crowded {
						t.Fatalf("message %d: %d", i, got)
					}
				}
				synctest.Wait() // one may be on its way into the channel, where it does not count
				counts := map[pushed]int{}
				for i := range 3 {
					counts[q.push(numbered(limit+i))]++
					synctest.Wait()
				}
				if slack := 3 - counts[test.result]; slack < 0 || slack > 1 {
					t.Errorf("results %v", counts)
				}
				q.end(false)
				var got []int
				for m := range q.out {
					n, _ := strconv.Atoi(m.Channel)
					got = append(got, n)
				}
				if !slices.IsSorted(got) || len(got) < limit || len(got) > limit+1 ||
					test.policy == DropOldest && got[len(got)-1] != test.last || test.policy != DropOldest && got[0] != test.first {
					t.Errorf("got %v", got)
				}
				group.Wait()
			})
		}
	}
}

func TestQueueEnds(t *testing.T) {
	for name, stop := range map[string]func(q *queue, closed chan struct{}){
		"discarded":         func(q *queue, _ chan struct{}) { q.end(true) },
		"the client closed": func(q *queue, closed chan struct{}) { q.end(false); close(closed) },
	} {
		bubble(t, name, func(t *testing.T, _ *world) {
			var group sync.WaitGroup
			closed := make(chan struct{})
			q := newQueue(1000, DropOldest, &group, closed)
			for i := range 500 {
				q.push(numbered(i))
			}
			synctest.Wait()
			stop(q, closed)
			group.Wait()
			n := 0
			for range q.out {
				n++
			}
			if n != direct {
				t.Errorf("%d messages can be read", n)
			}
			q.push(numbered(1)) // is for nobody
		})
	}
}

// Nothing comes behind what was forgotten, though a client that closes has yet to end the queue.
func TestQueueForgets(t *testing.T) {
	bubble(t, "Queue forgets", func(t *testing.T, _ *world) {
		var group sync.WaitGroup
		closed := make(chan struct{})
		q := newQueue(1000, DropOldest, &group, closed)
		for i := range 500 {
			q.push(numbered(i))
		}
		close(closed)
		group.Wait()
		for range direct {
			<-q.out
		}
		q.push(numbered(500))
		q.pushStored(numbered(501), at(501))
		q.end(false)
		if m, open := <-q.out; open {
			t.Errorf("got %v", m)
		}
	})
}

func TestQueue(t *testing.T) {
	bubble(t, "a reader that keeps up with the average gets everything, in order", func(t *testing.T, _ *world) {
		var group sync.WaitGroup
		q := newQueue(1000, EndOnFull, &group, make(chan struct{}))
		const n = 5000
		go func() {
			for i := range n {
				if i%500 == 0 {
					time.Sleep(time.Millisecond)
				}
				if q.push(numbered(i)) == full {
					t.Errorf("message %d: full", i)
				}
			}
			q.end(false)
		}()
		next := 0
		for m := range q.out {
			if m.Channel != strconv.Itoa(next) {
				t.Fatalf("got %s, want %d", m.Channel, next)
			}
			next++
			if next%700 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		if next != n {
			t.Errorf("%d messages, want %d", next, n)
		}
		group.Wait()
	})
	bubble(t, "Queue full events", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		s := mustSubscribe(t, c, "x", WithQueue(2, DropOldest))
		for i := range 5 {
			l.deliver("x", strconv.Itoa(i), "x")
		}
		total := event[QueueFull](w)
		synctest.Wait()
		start := time.Now()
		for i := range 5 {
			l.deliver("x", strconv.Itoa(5+i), "x")
		}
		for total.Dropped < 8 {
			e := event[QueueFull](w)
			if e.Tenant != "t" || e.Pattern != "x" {
				t.Errorf("got %+v", e)
			}
			total.Dropped += e.Dropped
		}
		if total.Dropped != 8 || time.Since(start) != fullEvery {
			t.Errorf("%d dropped, told after %v", total.Dropped, time.Since(start))
		}
		wantPayloads(t, s, "8", "9")
		ends := mustSubscribe(t, c, "y", WithQueue(1, EndOnFull))
		l.deliver("y", "1", "y")
		l.deliver("y", "2", "y")
		synctest.Wait()
		wantPayloads(t, ends, "1")
		wantEnd(t, ends, ErrQueueFull)
		if lines, _ := l.sent(); lines[len(lines)-1] != "UNSUB:t:y" {
			t.Errorf("sent %q", lines)
		}
	})
	bubble(t, "Subscribe func", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		var got []string
		resume := make(chan struct{})
		var s *Subscription
		s, err := c.SubscribeFunc(t.Context(), "t", "x", func(m Message) {
			got = append(got, string(m.Payload))
			if len(got) == 2 {
				noError(t, s.Unsubscribe(t.Context()))
				close(resume)
			}
		})
		must(t, err)
		for _, p := range []string{"1", "2", "3"} {
			l.deliver("x", p, "x")
		}
		<-resume
		synctest.Wait()
		if !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("got %q", got)
		}
	})
}

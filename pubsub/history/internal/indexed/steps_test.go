package indexed

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/pattern"
)

// counting is a history that counts what happens while its lock is held once.
type counting struct {
	Locked
	removed int // since it was locked
	most    int // that were removed between a Lock and an Unlock
	holds   int
}

func (c *counting) Unlock() {
	c.most = max(c.most, c.removed)
	c.removed = 0
	c.holds++
	c.Locked.Unlock()
}

func (c *counting) add(tenant, channel string, now time.Time) {
	c.Index.Add("", tenant, []byte(channel), c.Index.Next(tenant, now), nil, nil, 0)
}

// What goes through a whole history lets go of its lock in between, and does all that it
// should all the same.
func TestBoundedSteps(t *testing.T) {
	const messages = 5*index.MaxStep + 1000
	everything, err := pattern.Parse("#")
	if err != nil {
		t.Fatal(err)
	}
	limits := history.Limits{Messages: messages, Age: time.Hour, Size: 1 << 30}
	lower := func(change func(l *history.Limits)) func(*Set[*counting], *counting) error {
		l := limits
		change(&l)
		return func(s *Set[*counting], k *counting) error { return s.SetLimits(k, l, nil) }
	}
	for _, c := range []struct {
		name    string
		tenants int           // that have the messages
		old     time.Duration // how old they are
		do      func(*Set[*counting], *counting) error
		want    int // messages left
	}{
		{"purge of a tenant", 1, 0, func(s *Set[*counting], _ *counting) error {
			n, err := s.Purge("h", "t0", "", nil)
			if n != messages {
				t.Errorf("%d messages were purged", n)
			}
			return err
		}, 0},
		{"purge of a channel", 1, 0, func(s *Set[*counting], _ *counting) error {
			_, err := s.Purge("h", "t0", "c1", nil)
			return err
		}, messages / 2},
		{"purge of all", messages, 0, func(s *Set[*counting], _ *counting) error {
			_, err := s.Purge("h", "", "", nil)
			return err
		}, 0},
		{"purge of tenants that are idle", 2, 0, func(s *Set[*counting], _ *counting) error {
			_, err := s.Purge("h", "t1", "", nil)
			return err
		}, messages / 2},
		{"fewer messages", 1, 0, lower(func(l *history.Limits) { l.Messages = 10 }), 20},
		{"nothing to remove", 1, 0, lower(func(l *history.Limits) { l.Messages-- }), messages},
		{"less size", 1, 0, lower(func(l *history.Limits) { l.Size = 1 }), 1},
		{"less age", 1, 2 * time.Minute, lower(func(l *history.Limits) { l.Age = time.Minute }), 0},
		{"usage", messages, 0, func(s *Set[*counting], _ *counting) error {
			list, err := s.Answers().Usage()
			if len(list) != messages {
				t.Errorf("%d tenants are listed", len(list))
			}
			return err
		}, messages},
		{"usage of old ones", 1, 2 * time.Hour, func(s *Set[*counting], _ *counting) error {
			_, err := s.Answers().Usage()
			return err
		}, 0},
		{"a page", 1, 2 * time.Hour, func(s *Set[*counting], _ *counting) error {
			page, _, err := s.Page(t.Context(), &history.Query{History: "h", Tenant: "t0", Pattern: everything, MaxMessages: 10, MaxBytes: 1000})
			if len(page.Messages) != 0 {
				t.Errorf("a page with %d messages that are too old", len(page.Messages))
			}
			return err
		}, 0},
		{"a search that finds nothing", 1, 0, func(s *Set[*counting], _ *counting) error {
			nothing, err := pattern.Parse("d.*")
			head, _ := s.Answers().Head("h", "t0")
			for after := uint64(0); err == nil && after < head.N; {
				var page history.Page
				page, _, err = s.Page(t.Context(), &history.Query{History: "h", Tenant: "t0", Pattern: nothing, After: after, MaxMessages: 10, MaxBytes: 1000})
				if page.Work == 0 || page.Through.N-after > index.MaxStep*4 || page.Through.N <= after {
					t.Errorf("a page from %d to %d took %v", after, page.Through.N, page.Work)
				}
				after = page.Through.N
			}
			if s.all["h"].holds < messages/512 {
				t.Errorf("the lock was taken %d times", s.all["h"].holds)
			}
			return err
		}, messages},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &counting{Locked: Locked{Name: "h"}}
			left := 0
			k.Index = index.New(7, limits, func(string, *index.Entry) { k.removed++; left-- })
			s := NewSet[*counting](7)
			s.Add(k)
			for i := range messages {
				left++
				k.add(fmt.Sprint("t", i%c.tenants), fmt.Sprint("c", i/c.tenants%2), time.Now().Add(-c.old))
			}
			k.removed = 0
			if err := c.do(s, k); err != nil {
				t.Fatal(err)
			}
			if left != c.want {
				t.Errorf("%d messages are left, want %d", left, c.want)
			}
			if k.most > index.MaxStep {
				t.Errorf("%d messages were removed without letting go of the lock", k.most)
			}
			walked := messages - c.want
			if walked == 0 { // all were looked at
				walked = messages
			}
			if k.holds < walked/index.MaxStep {
				t.Errorf("the lock was taken %d times", k.holds)
			}
		})
	}
}

// A message that is added removes a part of what new limits exclude, not all of it.
func TestBoundedAdd(t *testing.T) {
	const messages = 3 * index.MaxStep
	limits := history.Limits{Messages: messages + 1, Age: time.Hour, Size: 1 << 30}
	for name, change := range map[string]func(*history.Limits){
		"messages": func(l *history.Limits) { l.Messages = 1 }, "size": func(l *history.Limits) { l.Size = 1 },
	} {
		k := &counting{Locked: Locked{Name: "h"}}
		k.Index = index.New(7, limits, func(string, *index.Entry) { k.removed++ })
		for range messages {
			k.add("t", "c", time.Now())
		}
		l := limits
		change(&l)
		k.Index.SetLimits(l)
		k.add("t", "c", time.Now())
		if k.removed == 0 || k.removed > index.MaxStep {
			t.Errorf("%s: one message removed %d", name, k.removed)
		}
	}
}

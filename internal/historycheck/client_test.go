package historycheck

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// What a client of an SDK may miss, and what not: of the messages 1 to 9, all confirmed.
func TestClient(t *testing.T) {
	at := func(n uint64) wire.Position { return wire.Position{Epoch: 1, N: n} }
	p, err := pattern.Parse("a.*")
	if err != nil {
		t.Fatal(err)
	}
	get := func(s *Client, numbers ...uint64) {
		for _, n := range numbers {
			s.Message("t", "a.x", string(rune('0'+n)), at(n))
		}
	}
	restarted := func(n uint64) wire.Position { return wire.Position{Epoch: 2, N: n} } // of another store
	tests := []struct {
		name string
		run  func(s *Client)
		want string // what is wrong
	}{
		{"all", func(s *Client) { get(s, 4, 5, 6, 7, 8) }, ""},
		{"a hole", func(s *Client) { get(s, 4, 5, 7, 8) }, "a.x=6 at 6 was confirmed, and is missing"},
		{"nothing at the end", func(s *Client) { get(s, 4, 5, 6, 7) }, "a.x=8 at 8 was confirmed, and is missing"},
		{"a hole and a gap", func(s *Client) { get(s, 4); s.Gap(at(6)); get(s, 7, 8) }, ""},
		{"a hole and an event that comes late", func(s *Client) { get(s, 4, 7); s.Gap(at(6)); get(s, 8) }, ""},
		{"a hole behind a gap", func(s *Client) { get(s, 4); s.Gap(at(6)); get(s, 8) }, "a.x=7 at 7 was confirmed, and is missing"},
		{"twice", func(s *Client) { get(s, 4, 5, 5, 6, 7, 8) }, "comes after"},
		{"out of order", func(s *Client) { get(s, 4, 6, 5, 7, 8) }, "comes after"},
		{"again, behind a gap to an earlier position", func(s *Client) { get(s, 4, 5); s.Gap(at(3)); get(s, 4, 5, 6, 7, 8) }, ""},
		{"again twice, behind one gap", func(s *Client) { get(s, 4, 5); s.Gap(at(3)); get(s, 4, 5, 4, 5, 6, 7, 8) }, "comes after"},
		{"another epoch, without a gap", func(s *Client) { get(s, 4, 5, 6, 7, 8); s.Message("t", "a.x", "new", restarted(1)) }, "without a gap"},
		{"another epoch and back, behind gaps", func(s *Client) {
			get(s, 4)
			s.Gap(restarted(0))
			s.Message("t", "a.x", "new", restarted(1))
			s.Gap(at(6))
			get(s, 7, 8)
		}, ""},
		{"of others", func(s *Client) { get(s, 4, 5, 6, 7, 8); s.Message("u", "a.x", "", at(9)) }, "a message for others"},
		{"another in its place", func(s *Client) { get(s, 4, 5, 6, 7); s.Message("t", "a.x", "9", at(8)) }, "a.x=8 and a.x=9"},
		{"stored, and called not stored", func(s *Client) { s.checker.NotStored("t", "a.x", "9"); get(s, 4, 5, 6, 7, 8) }, "a.x=9 at 9 is stored"},
		{"not stored", func(s *Client) { s.checker.NotStored("u", "a.x", "9"); get(s, 4, 5, 6, 7, 8) }, ""},
		{"a hole and a gap of a client long after", func(s *Client) {
			get(s, 4, 6)
			for n := uint64(6); n < 9; n++ {
				s.Begin(at(n))
				get(s, n+1)
			}
			s.Gap(at(8))
		}, "a.x=5 at 5 was confirmed, and is missing"},
	}
	shared := []struct {
		name string
		run  func(s *Client)
		want string
	}{
		{"a hole behind a gap of the same client", func(s *Client) { get(s, 4); s.Gap(at(5)); get(s, 6, 8) }, ""},
		{"a hole in front of a gap", func(s *Client) { get(s, 5, 6); s.Gap(at(7)); get(s, 8) }, "a.x=4 at 4 was confirmed, and is missing"},
		{"a hole behind the client that was notified of a gap", func(s *Client) {
			get(s, 4)
			s.Gap(at(5))
			get(s, 6)
			s.Begin(at(6))
			get(s, 8)
		}, "a.x=7 at 7 was confirmed, and is missing"},
		{"an epoch that had ended before", func(s *Client) {
			s.checker.Confirmed("t", "a.x", "unseen", wire.Position{Epoch: 3, N: 1})
			get(s, 4, 5, 6, 7, 8)
		}, ""},
		{"an epoch between two others that it saw nothing of", func(s *Client) {
			s.checker.Confirmed("t", "a.x", "unseen", wire.Position{Epoch: 3, N: 1})
			s.Gap(restarted(0))
			s.Message("t", "a.x", "new", restarted(1))
			s.End(restarted(1))
		}, ""},
	}
	for i, test := range append(tests, shared...) {
		t.Run(test.name, func(t *testing.T) {
			c := New()
			c.Shared = i >= len(tests)
			for n := uint64(1); n < 10; n++ {
				c.Confirmed("t", "a.x", string(rune('0'+n)), at(n))
			}
			c.Confirmed("t", "b.x", "", at(10))
			s := c.Client("s", "t", p)
			s.Begin(at(3))
			s.End(at(8))
			test.run(s)
			faults := strings.Join(c.Finish().Faults, "\n")
			if (faults == "") != (test.want == "") || !strings.Contains(faults, test.want) {
				t.Errorf("got %q, want %q", faults, test.want)
			}
		})
	}
}

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// withPresence makes an edge one with presence.
func withPresence(l *fakeLink) {
	l.answer[wire.LineFeatures] = wire.LineFeaturesSender + "," + wire.FeaturePresence
	l.answer["WHO:t:room.*:count"] = "OK:WHO:t:room.*"
}

// members runs a subtest with a client that knows two edges with presence, and is at A.
func members(t *testing.T, name string, f func(t *testing.T, w *world, c *Client, l *fakeLink)) {
	t.Helper()
	bubble(t, name, func(t *testing.T, w *world) {
		w.next(withPresence)
		c, l := w.connected(edgeA, edgeB)
		f(t, w, c, l)
	})
}

func mustJoin(t *testing.T, c *Client, channel string) *Membership {
	t.Helper()
	m, err := c.Join(t.Context(), "t", channel)
	must(t, err)
	return m
}

// The bits of presence frames.
const (
	first  = 1
	synced = 2
)

// here sends a page of the WHO of room.*. An entry is channel/subject, a number of seconds
// behind @, and info behind =; one with - before it is gone; and channel:n is a count.
func (l *fakeLink) here(bits int, entries ...string) { l.hereIn("room.*", bits, entries...) }

func (l *fakeLink) hereIn(pattern string, bits int, entries ...string) {
	p := wire.Presence{Tenant: "t", Pattern: pattern, First: bits&first != 0, Synced: bits&synced != 0}
	var body []byte
	for _, e := range entries {
		if !strings.Contains(e, "/") {
			channel, n, _ := strings.Cut(e, ":")
			count, _ := strconv.Atoi(n) // as the test has it
			body = wire.AppendMemberCount(body, wire.MemberCount{Channel: channel, Members: uint32(count)})
			p.Counts = true
			continue
		}
		name, gone := strings.CutPrefix(e, "-")
		name, info, _ := strings.Cut(name, "=")
		name, since, _ := strings.Cut(name, "@")
		seconds, _ := strconv.Atoi(since) // 0 if there is none
		m := wire.Member{Here: !gone, Info: []byte(info), Since: uint64(seconds) * 1000}
		m.Channel, m.Subject, _ = strings.Cut(name, "/")
		body = wire.AppendMember(body, &m)
	}
	l.in <- append(wire.AppendPresence(nil, &p, len(entries)), body...)
}

// watchLater asks for a presence of room.*.
func watchLater(t *testing.T, c *Client, opts ...PresenceOption) <-chan *Presence {
	t.Helper()
	got := make(chan *Presence, 1)
	go func() {
		p, err := c.Presence(t.Context(), "t", "room.*", opts...)
		noError(t, err)
		got <- p
	}()
	synctest.Wait()
	return got
}

// watch opens a presence of room.*, which has these members.
func watch(t *testing.T, c *Client, l *fakeLink, members ...string) *Presence {
	t.Helper()
	got := watchLater(t, c)
	l.here(first|synced, members...)
	return <-got
}

// also opens a presence of room.* beside another one.
func also(t *testing.T, c *Client, opts ...PresenceOption) *Presence {
	t.Helper()
	p, err := c.Presence(t.Context(), "t", "room.*", opts...)
	must(t, err)
	return p
}

// both asks for a membership of room.1 and a presence of room.*, which both fail.
func both(ctx context.Context, c *Client) <-chan error {
	failed := make(chan error, 2)
	go func() { failed <- errorOf(c.Join(ctx, "t", "room.1")) }()
	go func() { failed <- errorOf(c.Presence(ctx, "t", "room.*")) }()
	return failed
}

// changes reads what there is to tell, and requires that it is this: +channel/subject of one
// that joined, -… of one that left, *… of one that changed, channel:n of a count.
func changes(t *testing.T, p *Presence, want ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for {
		change, ok, _ := p.take()
		if !ok {
			break
		}
		got = append(got, changeText(change))
	}
	wantStrings(t, "the reader is told", got, want...)
}

func changeText(c PresenceChange) string {
	if c.Type == CountChanged {
		return fmt.Sprintf("%s:%d", c.Channel, c.Count)
	}
	sign := map[ChangeType]string{MemberJoined: "+", MemberLeft: "-", MemberChanged: "*"}[c.Type]
	return sign + c.Member.Channel + "/" + c.Member.Subject + string(c.Member.Info)
}

func wantMembers(t *testing.T, p *Presence, want ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for _, m := range p.Members() {
		got = append(got, m.Channel+"/"+m.Subject)
	}
	wantStrings(t, "members", got, want...)
}

func wantCounts(t *testing.T, p *Presence, want string) {
	t.Helper()
	synctest.Wait()
	equal(t, "counts", fmt.Sprint(p.Counts()), "map["+want+"]")
}

func wantSynced(t *testing.T, p *Presence, want bool) {
	t.Helper()
	equal(t, "synced", p.Synced(), want)
}

// askedFor is for what a link was asked beside PING, in order of the alphabet.
func (l *fakeLink) askedFor(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	lines, _ := l.sent()
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "PING" })
	slices.Sort(lines)
	wantStrings(t, "the edge has got", lines, want...)
}

func TestPresence(t *testing.T) {
	members(t, "Presence", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		got := watchLater(t, c)
		l.here(first, "room.2/cy@5", "room.1/bob@4")
		l.hereIn("other.*", first|synced, "other.1/eve") // concerns nothing
		wantNone(t, "before all is known", got)
		l.here(synced, `room.1/ada@3={"n":1}`, "-room.2/cy")
		p := <-got
		want := []Member{
			{Channel: "room.1", Subject: "ada", Info: json.RawMessage(`{"n":1}`), Since: time.Unix(3, 0).UTC()},
			{Channel: "room.1", Subject: "bob", Since: time.Unix(4, 0).UTC()},
		}
		equal(t, "presence", fmt.Sprint(p.Tenant(), p.Pattern(), p.Synced(), p.Members()), fmt.Sprint("t", "room.*", true, want))
		wantCounts(t, p, "room.1:2")
		changes(t, p)

		l.here(0, "room.1/cy", "-room.1/bob", `room.1/ada@3={"n":2}`, "room.2/dan")
		changes(t, p, "+room.1/cy", "-room.1/bob", `*room.1/ada{"n":2}`, "+room.2/dan")
		wantMembers(t, p, "room.1/ada", "room.1/cy", "room.2/dan")

		// What nobody reads is put together.
		l.here(0, "-room.1/cy")
		l.here(0, "room.1/eve", "room.2/dan@9")
		l.here(0, "room.1/cy", "-room.1/eve", "room.2/fay", "-room.9/none")
		l.here(0, "room.2/dan@10")
		changes(t, p, "*room.2/dan", "+room.2/fay")

		next := make(chan PresenceChange, 1)
		go func() {
			change, err := p.Next(t.Context())
			noError(t, err)
			next <- change
		}()
		wantNone(t, "nothing has changed", next)
		l.here(0, "-room.2/fay")
		equal(t, "changeText(<-next)", changeText(<-next), "-room.2/fay")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantError(t, errorOf(p.Next(ctx)), ErrTimeout)

		l.here(0, "room.1/zoe")
		noError(t, p.Close(t.Context()))
		noError(t, p.Close(t.Context()))
		wantError(t, errorOf(p.Next(t.Context())), ErrClosed)
		l.askedFor(t, "UNWHO:t:room.*", "WHO:t:room.*")
	})
	// Presences of a pattern are one on the edge. What comes of a WHO that has ended is not taken
	// for what the next one brings.
	members(t, "Presence shared", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		a := watch(t, c, l, "room.1/ada")
		l.here(0, "room.1/bob")
		synctest.Wait()
		b := also(t, c)
		counts := also(t, c, WithCounts())
		wantMembers(t, counts)
		wantCounts(t, counts, "room.1:2")
		l.here(0, "room.1/cy", "room.2/dan")
		changes(t, a, "+room.1/bob", "+room.1/cy", "+room.2/dan")
		changes(t, b, "+room.1/cy", "+room.2/dan")
		changes(t, counts, "room.1:3", "room.2:1")
		for _, p := range []*Presence{a, b} {
			noError(t, p.Close(t.Context()))
		}
		l.here(0, "-room.1/cy", "-room.2/dan")
		changes(t, counts, "room.1:2", "room.2:0")
		wantLines(t, l, "WHO:t:room.*")

		l.set(func(l *fakeLink) { l.mute["UNWHO"], l.mute["WHO"] = true, true })
		go func() {
			noError(t, counts.Close(t.Context()))
		}()
		synctest.Wait()
		got := watchLater(t, c)
		l.here(first|synced, "room.1/old")
		l.line("OK:UNWHO:t:room.*")
		wantNone(t, "what an earlier one brings", got)
		l.line("OK:WHO:t:room.*")
		l.here(first|synced, "room.1/new")
		wantMembers(t, <-got, "room.1/new")
	})
	members(t, "Presence counts", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		got := watchLater(t, c, WithCounts())
		l.here(first|synced, "room.1:3", "room.2:70000")
		p := <-got
		wantCounts(t, p, "room.1:3 room.2:70000")
		l.here(0, "room.1:4", "room.3:1")
		l.here(0, "room.1:0", "room.2:70001", "room.3:0")
		changes(t, p, "room.1:0", "room.2:70001")
		wantCounts(t, p, "room.2:70001")
		wantMembers(t, p)
		wantError(t, errorOf(c.Presence(t.Context(), "t", "room.*")), ErrBadOption)
		l.end(1011)
		event[Reconnected](w)
		second := <-w.links
		second.here(first|synced, "room.1:1", "room.2:70001")
		changes(t, p, "room.1:1")
		wantLines(t, second, "WHO:t:room.*:count")
	})
	members(t, "an edge that has more to tell than it can tells counts meanwhile",
		func(t *testing.T, w *world, c *Client, l *fakeLink) {
			p := watch(t, c, l, "room.1/ada", "room.2/bob")
			counts := also(t, c, WithCounts())
			l.here(0, "room.1:3", "room.2:0", "room.3:2")
			wantCounts(t, p, "room.1:3 room.3:2")
			wantMembers(t, p, "room.1/ada", "room.2/bob")
			changes(t, counts, "room.1:3", "room.2:0", "room.3:2")
			changes(t, p, "room.1:3", "room.2:0", "room.3:2")
			l.here(0, "room.1:4")
			l.here(0, "room.1/cy", "-room.2/bob")
			changes(t, p, "room.1:4", "+room.1/cy", "-room.2/bob")
			l.here(0, "room.3:3")
			l.here(synced, "room.1/dan", "room.3/eve")
			wantCounts(t, p, "room.1:3 room.3:1")
			changes(t, p, "+room.1/dan", "+room.3/eve")
			changes(t, counts, "room.3:1") // room.1 has as many as it was told last
		})
}

func TestPresenceMoves(t *testing.T) {
	scenes{
		// A loss of the connection is no leaving: what another one brings is compared with what was
		// shown.
		"a loss": `
			1 ends 1011; told Disconnected; unsynced; told Reconnected; link
			2 first room.1/ada; 2 page room.1:9; counts room.1:9; changes room.1:9; unsynced; members room.1/ada room.1/bob
			2 first room.1/bob@1; 2 last room.1/dan # it starts again
			changes -room.1/ada *room.1/bob +room.1/dan; members room.1/bob room.1/dan; synced
			2 all room.1/bob@1; changes -room.1/dan # it starts again without a loss`,
		"in a move the old connection feeds it until the new one has brought all there is": `
			drains; settle; 2 first room.1/ada; 1 page room.1/cy; changes +room.1/cy
			after settleTime+behindTime; 1 page -room.1/bob; changes -room.1/bob; 1 asked WHO:t:room.*
			2 last room.1/cy; 1 page room.1/old; changes; told Moved; synced
			2 page room.1/dan; 1 page room.1/older; changes +room.1/dan; members room.1/ada room.1/cy room.1/dan
			1 asked WHO:t:room.*`,
		"a move does not wait for ever for the next edge to say who is present": `
			drains; told Moved in=syncTime-syncTime+settleTime+behindTime+leaveTime; unsynced
			2 all room.1/ada room.1/bob; changes; synced`,
		"the next connection that has brought all there is may die: the old one still knows": `
			join room.1; subscribe x; next mute SUB; drains; settle; 2 all room.1/ada room.1/bob room.1/eve; changes +room.1/eve
			1 page room.1/cy; changes; 2 ends 1011; changes +room.1/cy -room.1/eve; 1 page room.1/eve; changes +room.1/eve
			synced; link; 3 all room.1/ada room.1/bob room.1/cy room.1/eve; 3 says OK:SUB:t:x; told Moved; changes`,
		"beside a suspect connection the next one takes over": `
			join room.1; subscribe x; flow; 1 mute; told Suspect; link; told Recovered; changes; members room.1/ada room.1/bob
			2 all room.1/ada; changes -room.1/bob; 1 page room.1/cy; changes
			leave; 1 counts LEAVE:t:room.1 1; 2 counts LEAVE:t:room.1 1 # the old one may have it as a member still`,
	}.run(t, withMembers)
}

// When the client ends with an error, the reader is told the rest, and then why.
func TestPresenceEnds(t *testing.T) {
	for _, closed := range []bool{true, false} {
		members(t, fmt.Sprint(closed), func(t *testing.T, _ *world, c *Client, l *fakeLink) {
			m := mustJoin(t, c, "room.1")
			p := watch(t, c, l)
			l.here(0, "room.1/ada")
			synctest.Wait()
			want := ErrClosed
			if closed {
				c.Close()
			} else {
				want = ErrTokenRevoked
				l.line("ERR:token_revoked")
				l.end(4403)
				<-c.Done()
			}
			<-m.Done()
			equal(t, "closed", closed, m.Err() == nil)
			change, err := p.Next(t.Context())
			if !closed {
				if err != nil || changeText(change) != "+room.1/ada" {
					t.Errorf("got %+v %v", change, err)
				}
				_, err = p.Next(t.Context())
			}
			wantError(t, err, want)
			wantSynced(t, p, false)
			noError(t, p.Close(t.Context()))
			noError(t, m.Leave(t.Context()))
		})
	}
}

package client

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// scene is a client that knows the edges A and B, is at A, and has subscribed to x. Scripts say
// what happens, in steps that semicolons and ends of lines separate; # begins a comment. Links
// have numbers, in the order in which they come up. The steps:
//
//	link                   the client connects once more; alone: it does not
//	1: a b                 link 1 brings the messages a and b
//	1 says LINE            link 1 brings a line
//	1 ends 1001            the edge ends link 1 with this code
//	1 is revoked           the edge says that the token is, and ends link 1
//	1 mute PING            link 1 leaves lines unanswered that begin so, or all; 1 answers: no more
//	1 postpones x          link 1 answers SUB for x with try_later; 1 denies x: with permission_denied
//	next mute PING         the next links do, and so on; next answers: they do no more
//	next swallow           the next links over WebTransport leave all unanswered
//	next plain             the next edges have no histories
//	1 stores 6 7           link 1 brings messages of a history, whose payloads are their numbers
//	1 caught 7             link 1 answers RSUB: there is nothing more behind the position 7, for
//	                       scripts write @7; 1 caught 7 gap: and something is missing
//	1 gap 7                link 1 reports a gap before the position 7
//	1 first room.1/a -b    link 1 brings the first page of those who are there, see fakeLink.here;
//	                       1 page, 1 last, 1 all: another one, the last, the only one
//	1 heard SUB:t:x PING   link 1 has got these lines, and no others
//	1 asked SUB:t:x        the same in the order of the alphabet, and without PING
//	1 counts SUB:t:x 3-5   link 1 has got this line 3 to 5 times
//	1 rests SUB:t:x        link 1 does not get it for a minute
//	1 has x=a              link 1 has got these publishes, and no others
//	1 is closed            by the client; 1 is open: it is not yet; 1 gets closed: it will be
//	A gone                 nobody gets a connection to the edge A, nor if A drains or refuses;
//	                       A back: that is over; A slow 2s: it takes so long. A/wt: over WebTransport
//	over websocket         this is what the client uses
//	tried in 4m-6m         WebTransport is tried at A after this time; not tried in 3h
//	got a b~late           the subscription has these messages next, and b is late; got nothing
//	told Moved B           the application is told this after other events, of the edge B. May be
//	                       followed by other fields, and by in=1s-2s: it takes so long
//	silent on Moved        it has not been told this since; quiet: nor else of its connection
//	at B                   the client is there
//	publish a; flush       both succeed; flush fails: as the connection is lost
//	flushing; flushed      the same, while other things happen; flushed may fail, too
//	publishing a           publish, and then flush; flushed awaits all
//	subscribe y            it succeeds, and does not count above
//	join room.1; leave     a membership begins, and ends
//	changes +room.1/a      the reader of room.* is told this, see changes; also members and counts
//	synced                 the presence is, and the membership has not ended; unsynced: it is not
//	unsubscribe            the subscription to x ends; ended: it has, for want of the permission
//	incomplete             the current connection does not have all subscriptions
//	wakes                  the machine has slept for an hour; roams: it has another network
//	close                  the application closes the client
//	after 2s+1ms           the time goes by
//	settle                 nothing more happens before time goes by
//	flow                   messages come on link 1 for a second, 100 ms apart
//	beside                 flow, and then silence: the client suspects link 1, and link 2 is there,
//	                       which has yet to answer SUB
//	drains                 link 1 says RECONNECT, and the next link is there
type scene struct {
	t     *testing.T
	w     *world
	c     *Client
	s     *Subscription
	links []*fakeLink
	calls []<-chan error  // that are under way
	base  func(*fakeLink) // what the edges can; nil: no more than others
	p     *Presence       // of room.*; nil: none
	m     *Membership     // of room.1; nil: none
}

// scenes runs subtests, by their names.
type scenes map[string]string

func (all scenes) run(t *testing.T, start func(w *world) *scene) {
	t.Helper()
	for name, script := range all {
		bubble(t, name, func(_ *testing.T, w *world) { start(w).play(script) })
	}
}

func twoEdges(w *world) *scene {
	c, l, s := w.subscribed(edgeA, edgeB)
	return &scene{t: w.t, w: w, c: c, s: s, links: []*fakeLink{l}}
}

func oneEdge(w *world) *scene {
	c, l, s := w.subscribed(edgeA)
	return &scene{t: w.t, w: w, c: c, s: s, links: []*fakeLink{l}}
}

// bothTransports is for a client that knows one edge.
func bothTransports(w *world) *scene { return preferring(w, edgeA) }

func preferring(w *world, edges ...string) *scene {
	c, l := w.mustConnect(edges, func(o *Options) { o.Transports = nil })
	return &scene{t: w.t, w: w, c: c, s: mustSubscribe(w.t, c, "x"), links: []*fakeLink{l}}
}

// overWebSocket is for a client that prefers WebTransport, which does not come up.
func overWebSocket(w *world) *scene {
	w.set(edgeA+" webtransport", errUnreachable)
	w.set(edgeB+" webtransport", errUnreachable)
	s := preferring(w, edgeA, edgeB)
	w.tries()
	return s
}

// awake is for a machine that may sleep.
func awake(w *world) *scene {
	w.machine = watched(w)
	return twoEdges(w)
}

// withHistory is for a subscription to x from now on, to edges with histories.
func withHistory(w *world) *scene {
	w.next(withHistories)
	c, l := w.connected(edgeA, edgeB)
	return &scene{t: w.t, w: w, c: c, s: begin(w.t, c, l, Now, nil), links: []*fakeLink{l}, base: withHistories}
}

// withMembers is for a presence of room.*, where ada and bob are in room.1, and no subscription.
func withMembers(w *world) *scene {
	w.next(withPresence)
	c, l := w.connected(edgeA, edgeB)
	return &scene{t: w.t, w: w, c: c, p: watch(w.t, c, l, "room.1/ada", "room.1/bob"), links: []*fakeLink{l}, base: withPresence}
}

// withRenewals is for tokens that are renewed after 4 to 5 s.
func withRenewals(w *world) *scene {
	c, l := w.mustConnect([]string{edgeA, edgeB}, (&issuer{life: 10 * time.Second}).options)
	return &scene{t: w.t, w: w, c: c, s: mustSubscribe(w.t, c, "x"), links: []*fakeLink{l}}
}

func (s *scene) play(script string) {
	s.t.Helper()
	for line := range strings.Lines(script) {
		line, _, _ = strings.Cut(line, "#")
		for step := range strings.SplitSeq(line, ";") {
			if words := strings.Fields(step); len(words) > 0 {
				s.step(words[0], words[1:])
			}
			if s.t.Failed() {
				s.t.Fatalf("in the step %q", strings.TrimSpace(step))
			}
		}
	}
}

func (s *scene) step(verb string, words []string) {
	s.t.Helper()
	word := strings.Join(words, " ")
	switch verb {
	case "link":
		s.links = append(s.links, <-s.w.links)
	case "A", "B", "A/wt", "B/wt":
		s.edge(map[byte]string{'A': edgeA, 'B': edgeB}[verb[0]], strings.HasSuffix(verb, "wt"), words)
	case "got":
		if word == "nothing" {
			wantWaiting(s.t, s.s, 0)
		} else {
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "~", " ") // "a late"
			}
			wantPayloads(s.t, s.s, words...)
		}
	case "told":
		s.told(words[0], words[1:])
	case "silent":
		synctest.Wait()
		for len(s.w.events) > 0 {
			if e := <-s.w.events; slices.Contains(words, name(e)) {
				s.t.Errorf("notified of %s %+v", name(e), e)
			}
		}
	case "at":
		equal(s.t, "edge", strings.TrimPrefix(s.c.Edge(), "https://"), strings.ToLower(word)+".example")
	case "publish":
		publish(s.t, s.c, word)
	case "flush":
		s.step("flushing", nil)
		s.step("flushed", words)
	case "flushing":
		s.calls = append(s.calls, async(func() error { return s.c.Flush(s.t.Context()) }))
		synctest.Wait()
	case "publishing":
		s.calls = append(s.calls, async(func() error {
			if err := s.c.Publish(s.t.Context(), "t", "x", []byte(word)); err != nil {
				return err
			}
			return s.c.Flush(s.t.Context())
		}))
	case "flushed":
		for _, call := range s.calls {
			wantError(s.t, <-call, map[string]error{"fails": ErrDisconnected, "": nil}[word])
		}
		s.calls = nil
	case "over":
		equal(s.t, "transport", s.c.Transport(), Transport(word))
	case "tried":
		within(s.t, "tried", s.w.nextTry(), words[1])
	case "not":
		s.w.tries()
		time.Sleep(span(words[2]))
		equal(s.t, "tries", s.w.tries(), 0)
	case "quiet":
		wantStrings(s.t, "notified of", transitionsNow(s.w))
		noError(s.t, s.c.Err())
	case "alone":
		equal(s.t, "further links", len(s.w.links), 0)
	case "unsubscribe":
		noError(s.t, s.s.Unsubscribe(s.t.Context()))
	case "ended":
		wantEnd(s.t, s.s, ErrPermissionDenied)
	case "incomplete":
		ready := make(chan bool, 1)
		s.c.post(func() { ready <- s.c.current.ready })
		equal(s.t, "the current connection is complete", <-ready, false)
	case "position":
		equal(s.t, "position", s.s.Position(), positions(word))
	case "roams":
		offer(s.c.signals.network)
		synctest.Wait()
	case "wakes":
		s.w.machine.set(func(m *fakeMachine) { m.slept = time.Hour })
	case "subscribe":
		if sub := mustSubscribe(s.t, s.c, word); s.s == nil {
			s.s = sub
		}
	case "join":
		s.m = mustJoin(s.t, s.c, word)
	case "leave":
		noError(s.t, s.m.Leave(s.t.Context()))
		synctest.Wait() // each connection is told by itself
	case "changes":
		changes(s.t, s.p, words...)
	case "members":
		wantMembers(s.t, s.p, words...)
	case "counts":
		wantCounts(s.t, s.p, word)
	case "synced", "unsynced":
		wantSynced(s.t, s.p, verb == "synced")
		if s.m != nil {
			noError(s.t, s.m.Err())
		}
	case "close":
		s.c.Close()
		wantError(s.t, s.c.Publish(s.t.Context(), "t", "x", nil), ErrClosed)
	case "after":
		time.Sleep(span(word))
	case "settle":
		synctest.Wait()
	case "flow":
		flow(s.t, s.links[0], s.s)
	case "beside":
		s.play("flow; 1 mute; next mute SUB; told Suspect; link")
	case "drains":
		s.play("1 says RECONNECT; link")
	case "next":
		s.w.next(func(l *fakeLink) {
			if s.base != nil && words[0] != "plain" {
				s.base(l)
			}
			if words[0] == "swallow" && l.transport == WebTransport {
				l.mute[""] = true
			}
			l.does(words[0], strings.Join(words[1:], " "))
		})
	default:
		n, err := strconv.Atoi(strings.TrimSuffix(verb, ":"))
		must(s.t, err)
		if l := s.links[n-1]; strings.HasSuffix(verb, ":") {
			l.bring(words...)
		} else {
			s.of(l, words[0], words[1:])
		}
	}
}

func (s *scene) edge(edge string, wt bool, words []string) {
	if wt {
		edge += " webtransport"
	}
	if words[0] == "slow" {
		if !wt {
			edge += " websocket"
		}
		s.w.slow(edge, span(words[1]))
		return
	}
	s.w.set(edge, map[string]error{"gone": errUnreachable, "drains": errDraining, "refuses": errBadToken, "back": nil}[words[0]])
}

// of is a step of a link.
func (s *scene) of(l *fakeLink, verb string, words []string) {
	s.t.Helper()
	line := positions(strings.Join(words, " "))
	closed := func() bool {
		select {
		case <-l.finished:
		case <-l.aborted:
		default:
			return false
		}
		return true
	}
	switch verb {
	case "says":
		l.line(strings.Replace(line, "features", wire.LineFeaturesHistory, 1))
	case "ends":
		l.end(int(numberOf(line)))
	case "is":
		if synctest.Wait(); line == "revoked" {
			l.revoke()
		} else {
			equal(s.t, "closed", closed(), line == "closed")
		}
	case "gets":
		select {
		case <-l.finished:
		case <-l.aborted:
		}
	case "mute", "answers", "postpones", "denies":
		l.set(func(l *fakeLink) { l.does(verb, line) })
	case "rests":
		before := l.count(line)
		time.Sleep(time.Minute)
		equal(s.t, "times that it has got "+line, l.count(line), before)
	case "counts":
		least, most, _ := strings.Cut(words[1], "-")
		if n := uint64(l.count(words[0])); n < numberOf(least) || n > numberOf(cmp.Or(most, least)) {
			s.t.Errorf("it has got %s %d times, want %s", words[0], n, words[1])
		}
	case "stores":
		for _, n := range words {
			l.stored(numberOf(n))
		}
	case "caught":
		l.caughtUp(numberOf(words[0]), len(words) == 1)
	case "gap":
		l.in <- wire.AppendGap(nil, "t", "x", at(numberOf(line)))
	case "first", "page", "last", "all":
		l.here(map[string]int{"first": first, "last": synced, "all": first | synced}[verb], words...)
	case "heard":
		wantLines(s.t, l, strings.Fields(line)...)
	case "asked":
		l.askedFor(s.t, strings.Fields(line)...)
	case "has":
		wantFrames(s.t, l, words...)
	default:
		s.t.Fatalf("no step of a link: %s %s", verb, line)
	}
}

// does changes how a link answers.
func (l *fakeLink) does(verb, line string) {
	switch verb {
	case "mute":
		l.mute[line] = true
	case "answers":
		clear(l.mute)
		maps.DeleteFunc(l.answer, func(line, _ string) bool { return strings.HasPrefix(line, "SUB:") })
	case "postpones":
		l.answer["SUB:t:"+line] = "ERR:try_later:SUB:t:" + line
	case "denies":
		l.answer["SUB:t:"+line] = "ERR:permission_denied:SUB:t:" + line
	}
}

// within requires a time like 1s-2s.
func within(t *testing.T, what string, got time.Duration, want string) {
	t.Helper()
	least, most, _ := strings.Cut(want, "-")
	if got < span(least) || got > span(cmp.Or(most, least)) {
		t.Errorf("%s after %v, want %s", what, got, want)
	}
}

// told awaits an event.
func (s *scene) told(event string, words []string) {
	s.t.Helper()
	start := time.Now()
	e := <-s.w.events
	for name(e) != event {
		if name(e) == "Closed" {
			s.t.Fatalf("the client ended: %+v", e)
		}
		e = <-s.w.events
	}
	text := fmt.Sprintf("%T %+v", e, e) // {Edge:https://a.example Transport:websocket Away:2s}
	for _, word := range words {
		switch what, value, _ := strings.Cut(positions(word), "="); what {
		case "A", "B":
			word = "Edge:https://" + strings.ToLower(word) + "."
		case "away":
			word = "Away:" + value
		case "in":
			within(s.t, "notified of "+event, time.Since(start), value)
			continue
		}
		if !strings.Contains(text, positions(word)) {
			s.t.Errorf("notified of %s, want %s", text, word)
		}
	}
}

// positions writes positions in place of their numbers.
func positions(text string) string {
	return regexp.MustCompile("@[0-9]+").ReplaceAllStringFunc(text, func(n string) string { return at(numberOf(n[1:])).String() })
}

func numberOf(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// span is a sum of times.
func span(text string) (sum time.Duration) {
	for part := range strings.SplitSeq(text, "+") {
		part, half := strings.CutSuffix(part, "/2")
		d, ok := map[string]time.Duration{
			"settleTime": settleTime, "behindTime": behindTime, "leaveTime": leaveTime, "noteLife": noteLife,
			"suspectEvery": suspectEvery, "shelfTime": shelfTime, "trailTime": trailTime, "trailEvery": trailEvery,
			"nextTimeout": nextTimeout, "unusualLeast": unusualLeast, "holeTime": holeTime, "fallback": upgradeOnline, "syncTime": syncTime,
		}[part]
		if !ok {
			var err error
			if d, err = time.ParseDuration(part); err != nil {
				panic(err)
			}
		}
		if half {
			d /= 2
		}
		sum += d
	}
	return sum
}

package client

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// scene is a client that knows the edges A and B, is at A, and has subscribed to x. Scripts say
// what happens, in steps that semicolons and ends of lines separate; # begins a comment. Links
// have numbers, in the order in which they come up. The steps:
//
//	link                   the client connects once more
//	1: a b                 link 1 brings the messages a and b
//	1 says LINE            link 1 brings a line
//	1 ends 1001            the edge ends link 1 with this code
//	1 is revoked           the edge says that the token is, and ends link 1
//	1 mute PING            link 1 leaves lines unanswered that begin so, or all; 1 answers: no more
//	next mute PING         the next links do; next answers: they do no more
//	1 stores 6 7           link 1 brings messages of a history, whose payloads are their numbers
//	1 heard SUB:t:x PING   link 1 has got these lines, and no others
//	1 asked SUB:t:x        the same in the order of the alphabet, and without PING
//	1 has x=a              link 1 has got these publishes, and no others
//	1 is closed            by the client; 1 is open: it is not yet; 1 gets closed: it will be
//	A gone                 nobody gets a connection to the edge A, nor if A drains or refuses;
//	                       A back: that is over; A slow 2s: it takes so long
//	got a b                the subscription has these messages next; got nothing
//	told Moved B           the application is told this after other events, of the edge B. May be
//	                       followed by a reason, by away=2s, or by in=2s: it takes no longer
//	silent on Moved        it has not been told this since
//	at B                   the client is there
//	publish a; flush       both succeed; flush fails: as the connection is lost
//	flushing; flushed      the same, while other things happen; flushed may fail, too
//	publishing a           publish, and then flush; flushed awaits both
//	subscribe y            it succeeds
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
	flush <-chan error // that is under way
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

// withHistory is for a subscription to x from now on, to edges with histories.
func withHistory(w *world) *scene {
	w.next(withHistories)
	c, l := w.connected(edgeA, edgeB)
	return &scene{t: w.t, w: w, c: c, s: begin(w.t, c, l, Now, nil), links: []*fakeLink{l}}
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
	case "A", "B":
		s.edge(map[string]string{"A": edgeA, "B": edgeB}[verb], words)
	case "got":
		if word == "nothing" {
			wantWaiting(s.t, s.s, 0)
		} else {
			wantPayloads(s.t, s.s, words...)
		}
	case "told":
		s.told(words[0], words[1:])
	case "silent":
		synctest.Wait()
		for len(s.w.events) > 0 {
			if e := <-s.w.events; slices.Contains(words, name(e)) {
				s.t.Errorf("told of %s %+v", name(e), e)
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
		s.flush = async(func() error { return s.c.Flush(s.t.Context()) })
		synctest.Wait()
	case "publishing":
		s.flush = async(func() error {
			return cmp.Or(s.c.Publish(s.t.Context(), "t", "x", []byte(word)), s.c.Flush(s.t.Context()))
		})
	case "flushed":
		wantError(s.t, <-s.flush, map[string]error{"fails": ErrDisconnected, "": nil}[word])
	case "subscribe":
		mustSubscribe(s.t, s.c, word)
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
			if s.s.history != nil {
				withHistories(l)
			}
			if words[0] == "mute" {
				l.mute[strings.Join(words[1:], " ")] = true
			}
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

func (s *scene) edge(edge string, words []string) {
	if words[0] == "slow" {
		s.w.slow(edge+" websocket", span(words[1]))
		return
	}
	s.w.set(edge, map[string]error{"gone": errUnreachable, "drains": errDraining, "refuses": errBadToken, "back": nil}[words[0]])
}

// of is a step of a link.
func (s *scene) of(l *fakeLink, verb string, words []string) {
	s.t.Helper()
	line := strings.Join(words, " ")
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
		l.line(line)
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
	case "mute":
		l.set(func(l *fakeLink) { l.mute[line] = true })
	case "answers":
		l.set(func(l *fakeLink) { clear(l.mute) })
	case "stores":
		for _, n := range words {
			l.stored(numberOf(n))
		}
	case "heard":
		wantLines(s.t, l, words...)
	case "asked":
		l.askedFor(s.t, words...)
	case "has":
		wantFrames(s.t, l, words...)
	default:
		s.t.Fatalf("no step of a link: %s %s", verb, line)
	}
}

// told awaits an event.
func (s *scene) told(event string, words []string) {
	s.t.Helper()
	start := time.Now()
	e := <-s.w.events
	for name(e) != event {
		if _, ok := e.(Closed); ok {
			s.t.Fatalf("the client ended: %+v", e)
		}
		e = <-s.w.events
	}
	text := fmt.Sprintf("%+v", e) // {Edge:https://a.example Transport:websocket Away:2s}
	for _, word := range words {
		switch what, value, _ := strings.Cut(word, "="); what {
		case "A", "B":
			word = "Edge:https://" + strings.ToLower(word) + "."
		case "away":
			word = "Away:" + value
		case "in":
			atMost(s.t, "told of "+event+" after", time.Since(start), span(value))
			continue
		}
		if !strings.Contains(text, word) {
			s.t.Errorf("told of %s %s, want %s", event, text, word)
		}
	}
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
			"nextTimeout": nextTimeout,
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

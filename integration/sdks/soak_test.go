package sdks

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// sdkRounds is how often a test ends an edge below its clients.
func sdkRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MILLRACE_ROUNDS")
	if text == "" {
		return 2 // there and back again
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MILLRACE_ROUNDS is %q, want a number of rounds", text)
	}
	return n
}

// sdkLoad is clients of every kind that hear numbers while edges end.
type sdkLoad struct {
	*sdkPair
	stream  *numbers
	follows []*follower
}

// follower reads a subscription for as long as the test lasts.
type follower struct {
	sub  *sdk.Sub
	done chan struct{}
	got  []int // the numbers, in the order in which they came
	err  error
}

func startSDKLoad(t *testing.T, options sdk.Options) *sdkLoad {
	t.Helper()
	lab := &sdk.Lab{Browsers: startSDKBrowsers(t), Nats: harness.StartNATS(t, 1)}
	l := &sdkLoad{sdkPair: startSDKPair(t, lab, options)}
	for _, sub := range l.subs {
		f := &follower{sub: sub, done: make(chan struct{})}
		go f.Run() // ends with "end", or the mailbox's timeout
		l.follows = append(l.follows, f)
	}
	l.stream = startNumbers(l.publisher, l.Tenant, "n")
	return l
}

func (f *follower) Run() {
	defer close(f.done)
	for {
		r, ok := f.sub.Messages.Take(func(sdk.Report) bool { return true })
		if !ok || r.Event != "message" {
			f.err = fmt.Errorf("after %d messages: no message in %v, or the end: %v", len(f.got), harness.WaitTimeout, r)
			return
		}
		if string(r.Payload) == "end" {
			return
		}
		n, err := strconv.Atoi(string(r.Payload))
		if err != nil {
			f.err = err
			return
		}
		f.got = append(f.got, n)
	}
}

// End halts the numbers, and returns how many there were when all have read them.
func (l *sdkLoad) End() int {
	l.T.Helper()
	sent := l.stream.halt()
	l.publisher.Publish(l.Tenant, "n", "end")
	for _, f := range l.follows {
		<-f.done
		if f.err != nil {
			l.T.Errorf("%s: %v; events: %v", f.sub.C.Kind, f.err, f.sub.C.Events.Rest())
		}
	}
	return sent
}

// swap starts the edge that has ended again; clients are at the other one.
func (l *sdkLoad) swap() {
	l.T.Helper()
	ended := l.from
	l.from, l.to = l.to, l.restart(ended)
}

// Clients whose edges drain, one after the other, lose nothing, get nothing twice
// and all in order.
func TestSDKDrains(t *testing.T) {
	t.Parallel()
	l := startSDKLoad(t, sdk.Options{})
	rounds := sdkRounds(t)
	for range rounds {
		l.from.Terminate()
		for _, c := range l.clients {
			if e := c.Event("moved"); e.Edge != l.to.HttpsURL("") {
				t.Errorf("%s moved to %s, want %s", c.Kind, e.Edge, l.to.HttpsURL(""))
			}
		}
		l.from.Stop() // long before the end of its drain, as all have left
		l.swap()
	}
	sent := l.End()
	for i, f := range l.follows {
		for n, got := range f.got {
			if n != got {
				t.Errorf("%s: got %d, want %d of %d", l.clients[i].Kind, got, n, sent)
				break
			}
		}
		if len(f.got) != sent {
			t.Errorf("%s: got %d messages of %d", l.clients[i].Kind, len(f.got), sent)
		}
		l.clients[i].Never("disconnected", "queueFull", "slowConsumer")
	}
	t.Logf("%d drains, %d messages to each of %d clients: none lost, none twice, all in order unless said otherwise",
		rounds, sent, len(l.clients))
}

// Clients whose edges die are told so. What they lose is what was published while
// they were away, and nothing comes twice or in another order.
func TestSDKKills(t *testing.T) {
	t.Parallel()
	l := startSDKLoad(t, sdkImpatient)
	rounds := sdkRounds(t)
	aways := make([][]sdkAway, len(l.clients))
	for range rounds {
		killed := time.Now()
		l.from.Kill()
		for i, c := range l.clients {
			e := c.IsBack()
			if e.Edge != l.to.HttpsURL("") {
				t.Errorf("%s: got %v, want the edge %s", c.Kind, e, l.to.HttpsURL(""))
			}
			aways[i] = append(aways[i], sdkAway{killed, e})
			if away := time.Duration(e.Away * float64(time.Millisecond)); away > e.At.Sub(killed)+awaySlack {
				t.Errorf("%s says that it was away for %v, %v after the kill", c.Kind, away, e.At.Sub(killed))
			}
		}
		before := l.stream.sent()
		l.stays.Poll("messages after the kill", func() bool { return l.stream.sent() > before+20 })
		l.swap()
	}
	sent := l.End()
	var summary []string
	for i, f := range l.follows {
		kind, lost, total := l.clients[i].Kind, 0, 0.
		gaps := f.gaps(t, sent)
		if len(gaps) > rounds {
			t.Errorf("%s: messages are missing in %d places, %v, but it was away %d times", kind, len(gaps), gaps, rounds)
		}
		for _, a := range aways[i] {
			total += a.back.Away
		}
		for _, gap := range gaps {
			lost += gap.to - gap.from
			l.checkGap(kind, gap, aways[i])
		}
		summary = append(summary, fmt.Sprintf("%s %d (%.0f ms)", kind, lost, total))
		if n := l.clients[i].Count("disconnected"); n > rounds {
			t.Errorf("%s was told of %d losses, want %d at most", kind, n, rounds)
		}
	}
	t.Logf("%d kills, %d messages; lost by client, and the time it was away: %s", rounds, sent, strings.Join(summary, ", "))
}

// gap is what is missing: the numbers from one to before another.
type gap struct{ from, to int }

// gaps is where a follower lacks numbers. It requires that none comes twice or
// late.
func (f *follower) gaps(t *testing.T, sent int) (list []gap) {
	t.Helper()
	next := 0
	for _, n := range append(f.got, sent) {
		if n < next {
			t.Errorf("%s: %d came after %d", f.sub.C.Kind, n, next-1)
			return list
		}
		if n > next {
			list = append(list, gap{next, n})
		}
		next = n + 1
	}
	return list
}

// awaySlack is for what is lost before and after: a message that was sent to the
// client before the kill, but did not arrive; one that came when the other edge had
// the subscription, but the publisher's had not heard of it; and whatever the
// machine does in between.
const awaySlack = 3 * time.Second

// sdkAway is a time in which a client had no edge. It began with the kill: a busy
// machine may tell the client seconds later that its connection is gone.
type sdkAway struct {
	killed time.Time
	back   sdk.Report
}

func (a sdkAway) String() string {
	return fmt.Sprintf("from %v to %v (away for %.0f ms, it says)", a.killed, a.back.At, a.back.Away)
}

// checkGap requires that what is missing was published while the client was away.
func (l *sdkLoad) checkGap(kind sdk.Kind, g gap, aways []sdkAway) {
	l.T.Helper()
	first, last := l.stream.times[g.from], l.stream.times[g.to-1]
	for _, a := range aways {
		if first.After(a.killed.Add(-awaySlack)) && last.Before(a.back.At.Add(awaySlack)) {
			return
		}
	}
	l.T.Errorf("%s lost the messages from %d to %d, published from %v to %v, but was away at other times: %v",
		kind, g.from, g.to-1, first, last, aways)
}

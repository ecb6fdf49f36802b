package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

// A reload a minute over HTTPS, below sessions of both transports that each began under
// another configuration. None of them ends, and what the edge holds does not grow: a configuration
// does not live as long as its sessions.
func TestSessionsOutliveConfigurations(t *testing.T) {
	t.Parallel()
	pairs := harness.AtLength(6, 60) // of sessions
	length := harness.SoakFor(t, time.Second, 12*time.Hour)
	every := harness.AtLength(0, time.Second) * time.Duration(harness.SoakCount(t, 1, 60))
	e := harness.StartEdge(t, answering(0))
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["right"].(harness.Object)["expires_at"] = harness.In(23 * time.Hour) // 24 are the most
	roots, err := e.TlsConfig()
	e.Must(err)
	o := client.Options{Token: e.IssueAs(e.Master, request).Token, TLS: roots, ConnectTimeout: harness.WaitTimeout}
	var open []*listener
	begin := func() {
		for _, transport := range []client.Transport{client.WebSocket, client.WebTransport} {
			o.Transports = []client.Transport{transport}
			open = append(open, listen(e, o))
		}
	}
	for range pairs {
		begin()
	}
	heap := e.Memory()
	var resident, own []int // KiB
	for start, n := time.Now(), 1; time.Since(start) < length || n <= pairs; n++ {
		next := time.Now().Add(every)
		e.Reload(answering(n))
		for _, l := range open[:2] { // the oldest
			e.Must(l.c.Close())
		}
		open = open[2:]
		begin()
		for _, l := range open {
			l.expect(fmt.Sprint(n))
		}
		all, ownNow := e.Resident()
		resident, own = append(resident, all), append(own, ownNow)
		pause(t.Context(), time.Until(next))
	}
	grown, bound := 0, 64*pairs // a configuration takes more than a MiB
	e.Poll(fmt.Sprintf("a live heap that has grown by at most %d KiB", bound), func() bool {
		grown = e.Memory() - heap // too much while QUIC lingers on what was closed last
		return grown <= bound
	})
	t.Logf("%d reloads: live heap grown by %d KiB; resident KiB: %d", len(resident), grown, resident)
	if n := len(resident); harness.Soaking {
		median := func(of []int) int { return slices.Sorted(slices.Values(of))[len(of)/2] }
		all, early, late := median(resident[n/4:n/2]), median(own[n/4:n/2]), median(own[n*3/4:])
		t.Logf("resident: %d KiB; of its own %d KiB, and %d KiB in the end", all, early, late)
		if 100*(late-early) > 3*all {
			t.Errorf("of %d KiB of resident memory, %d were the edge's own, and %d in the end: it grew by more than 3 %%", all, early, late)
		}
	}
}

// answering is the n-th of some configurations.
func answering(n int) string {
	return strings.ReplaceAll(harness.DefaultCaddyfile, "no such page", fmt.Sprintf("no such page %d", n))
}

// listener is a client that may not lose its connection.
type listener struct {
	e       *harness.Edge
	c       *client.Client
	s       *client.Subscription
	channel string
	lost    atomic.Pointer[client.Disconnected]
}

var channels atomic.Int64

func listen(e *harness.Edge, o client.Options) *listener {
	e.T.Helper()
	l := &listener{e: e, channel: fmt.Sprint("of.", channels.Add(1))}
	o.OnEvent = func(event client.Event) {
		if d, ok := event.(client.Disconnected); ok {
			l.lost.Store(&d)
		}
	}
	var err error
	l.c, err = client.Connect(e.T.Context(), []string{e.HttpsURL("")}, o)
	e.Must(err)
	e.T.Cleanup(func() { l.c.Close() })
	l.s, err = l.c.Subscribe(e.T.Context(), tenant, l.channel)
	e.Must(err)
	return l
}

// expect sends a message to the client itself.
func (l *listener) expect(text string) {
	l.e.T.Helper()
	ctx, cancel := context.WithTimeout(l.e.T.Context(), harness.WaitTimeout)
	defer cancel()
	l.e.Must(l.c.Publish(ctx, tenant, l.channel, []byte(text)))
	select {
	case m := <-l.s.Messages():
		if string(m.Payload) != text {
			l.e.T.Errorf("got %q on %s, want %q", m.Payload, l.channel, text)
		}
	case <-ctx.Done():
		l.e.T.Fatalf("no message comes on %s", l.channel)
	}
	if d := l.lost.Load(); d != nil {
		l.e.T.Fatalf("a reload ended a session: %+v", *d)
	}
}

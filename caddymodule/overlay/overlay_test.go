package overlay

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/nats"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// edge is a hub with its overlay.
type edge struct {
	*Overlay
	t     *testing.T
	hub   *pubsub.Hub
	proxy *natstest.Proxy // of its link
}

func openEdge(t *testing.T, broker pubsub.Broker) *edge {
	limits := pubsub.DefaultLimits()
	limits.Drain = time.Millisecond // nobody is to move
	e := &edge{t: t, hub: pubsub.NewHub(broker, limits, zap.NewNop())}
	e.Overlay = New(e.hub, broker, Source{
		Status: func() Status { return Status{Version: "test", Connections: e.hub.Metrics().Connections} },
		Counts: func() Counts { return Counts{} },
	})
	t.Cleanup(func() {
		e.Close()
		if err := e.hub.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// openEdges returns edges that know each other over a NATS server.
func openEdges(t *testing.T, hosts ...string) (list []*edge) {
	t.Helper()
	s := natstest.Server(t)
	for _, host := range hosts {
		proxy := natstest.StartProxy(t, s)
		b, err := nats.New(nats.Config{Connect: proxy.Connect(), Prefix: "test", QueueBytes: 1 << 20, Log: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		e := openEdge(t, b)
		e.proxy = proxy
		b.Announce(pubsub.Edge{Host: host})
		list = append(list, e)
	}
	for _, e := range list {
		e.await("the other edges", func() bool {
			n := 0
			for _, m := range e.members()[1:] {
				if m.Host != "" {
					n++
				}
			}
			return n == len(hosts)-1
		})
	}
	return list
}

func (e *edge) await(what string, ready func() bool) {
	e.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// connection is one of a client that reads nothing, and leaves when it is told to.
type connection struct{ session *pubsub.Session }

func (connection) Write([]pubsub.Outgoing) error { return nil }
func (c connection) Close(wire.CloseCode, string) error {
	go c.session.Detach() // the hub waits for it
	return nil
}
func (connection) Abort() {}

type allRights struct{}

func (allRights) CanPublish(_, _ []byte) bool               { return true }
func (allRights) CanSubscribe(string, pattern.Pattern) bool { return true }

// connect opens a connection with a token.
func (e *edge) connect(tokenID, ip string) *pubsub.Session {
	e.t.Helper()
	s, err := e.hub.Admit(pubsub.Identity{TokenID: tokenID, ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}, Tenants: []string{"t"}},
		pubsub.Client{IP: netip.MustParseAddr(ip), Transport: "websocket"})
	if err != nil {
		e.t.Fatal(err)
	}
	s.Attach(connection{s})
	return s
}

func TestAlone(t *testing.T) {
	e := openEdge(t, memory.New())
	s := e.connect("one", "192.0.2.1")
	e.connect("one", "192.0.2.2")
	e.connect("two", "198.51.100.1")
	edges := e.Edges()
	if len(edges) != 1 || !edges[0].Self || !edges[0].Answered || edges[0].Name != "this edge" || edges[0].Status.Connections["websocket"] != 3 {
		t.Errorf("%+v", edges)
	}
	list, err := e.Connections(t.Context(), Query{TokenID: "one", Network: netip.MustParsePrefix("192.0.2.1/32")})
	if err != nil || len(list.Connections) != 1 || list.Edges[0].Total != 3 || list.Edges[0].Matching != 1 || list.Connections[0].IP != "192.0.2.1" {
		t.Errorf("%+v %v", list, err)
	}
	id := list.Connections[0].ID
	if _, err := e.Disconnect(t.Context(), Target{Edge: local, ID: id}); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if code, reason := s.CloseStatus(); code != wire.CloseTryLater || reason != string(wire.CodeClosedByOperator) {
		t.Errorf("it closes with %d %s", code, reason)
	}
	e.await("its end", func() bool {
		_, err = e.Connection(t.Context(), local, id)
		return errors.Is(err, ErrUnknownConnection)
	})
	for err, got := range map[error]func() error{
		ErrUnknownConnection: func() error { _, err := e.Disconnect(t.Context(), Target{Edge: local, ID: 99}); return err },
		ErrUnknownEdge:       func() error { return e.Drain(t.Context(), "another") },
		ErrBadCursor:         func() error { _, err := e.Connections(t.Context(), Query{Cursor: "local:x"}); return err },
	} {
		if got := got(); !errors.Is(got, err) {
			t.Errorf("got %v, want %v", got, err)
		}
	}
	if got, err := e.Disconnect(t.Context(), Target{TokenID: "one"}); got.Disconnected != 1 || err != nil {
		t.Errorf("all of a token: %+v %v", got, err)
	}
}

// Pages go through the connections of all edges, each once.
func TestPages(t *testing.T) {
	edges := openEdges(t, "a.example", "b.example", "c.example")
	want := map[string]bool{}
	for i, e := range edges {
		for j := range 5 + i {
			id := fmt.Sprintf("%d-%d", i, j)
			e.connect(id, "192.0.2.1")
			want[id] = true
		}
	}
	for _, limit := range []int{1, 4, 7, 100} {
		seen := map[string]bool{}
		cursor := ""
		for {
			page, err := edges[1].Connections(t.Context(), Query{Limit: limit, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Connections) > limit || page.NextCursor != "" && len(page.Connections) == 0 {
				t.Fatalf("a page of %d rows, limit %d, with the next one %q", len(page.Connections), limit, page.NextCursor)
			}
			for _, c := range page.Connections {
				if seen[c.TokenID] || !strings.HasSuffix(c.EdgeName, ".example") {
					t.Errorf("%s of %s comes twice, or of no edge", c.TokenID, c.EdgeName)
				}
				seen[c.TokenID] = true
			}
			total := 0
			for _, e := range page.Edges {
				total += e.Total
			}
			if total != len(want) {
				t.Errorf("%d in all, want %d", total, len(want))
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if len(seen) != len(want) {
			t.Errorf("limit %d: %d connections, want %d", limit, len(seen), len(want))
		}
	}
	page, err := edges[0].Connections(t.Context(), Query{Edge: "c.example"})
	if err != nil || len(page.Connections) != 7 || len(page.Edges) != 1 {
		t.Errorf("one edge: %d rows of %d edges, %v", len(page.Connections), len(page.Edges), err)
	}
}

// What an operator does at one edge happens at the one that is meant, if that allows it.
func TestOtherEdges(t *testing.T) {
	edges := openEdges(t, "a.example", "b.example", "c.example")
	here, there := edges[0], edges[1]
	s := there.connect("one", "192.0.2.1")
	list, err := here.Connections(t.Context(), Query{TokenID: "one"})
	if err != nil || len(list.Connections) != 1 || list.Connections[0].EdgeName != "b.example" {
		t.Fatalf("%+v %v", list, err)
	}
	at := list.Connections[0]
	if detail, err := here.Connection(t.Context(), at.Edge, at.ID); err != nil || detail.TokenID != "one" || detail.EdgeName != "b.example" {
		t.Errorf("%+v %v", detail, err)
	}

	there.SetPolicy(View)
	if _, err := here.Disconnect(t.Context(), Target{Edge: at.Edge, ID: at.ID}); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("with the policy view: %v", err)
	}
	if err := here.Drain(t.Context(), at.Edge); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a drain with the policy view: %v", err)
	}
	if got, err := here.Disconnect(t.Context(), Target{TokenID: "one"}); err != nil || !slices.Equal(got.Unanswered, []string{"b.example"}) {
		t.Errorf("all of a token with the policy view: %+v %v", got, err)
	}
	if _, err := there.Disconnect(t.Context(), Target{Edge: at.Edge, ID: 999}); !errors.Is(err, ErrUnknownConnection) { // its own operators may
		t.Error(err)
	}
	there.SetPolicy(Off)
	if list, err = here.Connections(t.Context(), Query{}); err != nil || here.count(list, "b.example").Answered {
		t.Errorf("with the policy off: %+v %v", list, err)
	}
	there.SetPolicy(Manage)
	if _, err := here.Disconnect(t.Context(), Target{Edge: "b.example", ID: at.ID}); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if err := here.Drain(t.Context(), "b.example"); err != nil {
		t.Error(err)
	}
	here.await("the drain", func() bool { return errors.Is(there.hub.Available(), pubsub.ErrDraining) })
	if list, err = here.Connections(t.Context(), Query{}); err != nil || !here.count(list, "b.example").Draining || here.count(list, "a.example").Draining {
		t.Errorf("while an edge drains: %+v %v", list, err)
	}
	there.SetPolicy(View)
	if err := here.Undrain(t.Context(), "b.example"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("the end of a drain with the policy view: %v", err)
	}
	there.SetPolicy(Manage)
	if err := here.Undrain(t.Context(), "b.example"); err != nil || there.hub.Available() != nil {
		t.Errorf("after the end of a drain: %v, %v", err, there.hub.Available())
	}
	there.hub.Shutdown()
	if err := here.Undrain(t.Context(), "b.example"); !errors.Is(err, pubsub.ErrStopping) {
		t.Errorf("an edge that stops: %v", err)
	}
}

// What any edge refused is found at each, newest first, page by page and without a gap, also where
// an edge sends less than it was asked for.
func TestRefusedAtOtherEdges(t *testing.T) {
	edges := openEdges(t, "a.example", "b.example")
	reason := strings.Repeat("why ", 100)
	for i := range 3000 { // more than fits into an answer
		edges[min(i/300, 1)].hub.Refused(hook.RefusedClient{ConnectionID: wire.ConnectionID(i + 1), Subject: "ada", Reason: reason})
	}
	found, err := edges[0].Refused(t.Context(), RefusedQuery{ConnectionID: 3000})
	if err != nil || len(found.Refused) != 1 || found.Refused[0].EdgeName != "b.example" || found.More {
		t.Fatalf("%+v %v", found, err)
	}
	var last time.Time
	n, q := 0, RefusedQuery{Subject: "ada", Limit: MaxLimit}
	for more := true; more; q.Before = last {
		page, err := edges[0].Refused(t.Context(), q)
		if err != nil || page.More && len(page.Refused) == 0 || len(page.Refused) > MaxLimit {
			t.Fatalf("%d, more %v, %v", len(page.Refused), page.More, err)
		}
		for _, r := range page.Refused {
			if n++; n > 1 && !r.Time.Before(last) {
				t.Fatal("they are out of order")
			}
			last = r.Time
		}
		more = page.More
	}
	if n != 3000 {
		t.Errorf("%d of 3000 are listed", n)
	}
	edges[1].SetPolicy(Off)
	if found, err = edges[0].Refused(t.Context(), RefusedQuery{}); err != nil || found.Edges[1].Answered || found.Edges[1].Error == "" {
		t.Errorf("with the policy off: %+v, %v", found.Edges, err)
	}
}

func (e *edge) count(list Connections, name string) EdgeCount {
	e.t.Helper()
	i := slices.IndexFunc(list.Edges, func(c EdgeCount) bool { return c.Name == name })
	if i < 0 {
		e.t.Fatalf("%s is not named: %+v", name, list.Edges)
	}
	return list.Edges[i]
}

// An edge that fell silent may be cut off and serve clients, and later it no longer does. One that
// is there, and does not answer, does.
func TestLost(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		state  string
		silent time.Duration
		want   bool
	}{
		{pubsub.MemberSilent, maxCutOff - 1, false}, {pubsub.MemberSilent, maxCutOff, true},
		{pubsub.MemberHere, time.Hour, false}, {pubsub.MemberDraining, time.Hour, false},
	} {
		if got := lost(c.state, now.Add(-c.silent), now); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// An edge that does not answer is named, and holds nobody up.
func TestSilentEdge(t *testing.T) {
	edges := openEdges(t, "a.example", "b.example", "c.example")
	edges[2].connect("one", "192.0.2.1")
	edges[1].proxy.Hold()
	defer edges[1].proxy.Resume()
	var asking sync.WaitGroup // each waits for Patience, at least
	defer asking.Wait()
	asking.Go(func() {
		list, err := edges[0].Connections(t.Context(), Query{})
		if err != nil || len(list.Connections) != 1 {
			t.Errorf("%+v %v", list, err)
		}
		if c := edges[0].count(list, "b.example"); c.Answered || !strings.Contains(c.Error, "did not answer") {
			t.Errorf("%+v", c)
		}
	})
	asking.Go(func() {
		for _, e := range edges[0].Edges() {
			if e.Answered != (e.Name != "b.example") || e.Answered == (e.Status == nil) {
				t.Errorf("%+v", e)
			}
		}
	})
	asking.Go(func() {
		if got, err := edges[0].Disconnect(t.Context(), Target{TokenID: "none"}); err != nil || got.Disconnected != 0 || !slices.Equal(got.Unanswered, []string{"b.example"}) {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// What another edge sends is checked, and what does not fit into an answer is cut.
func TestAnswers(t *testing.T) {
	e := openEdge(t, memory.New())
	ask := func(body string) string { return string(e.answer(context.Background(), pubsub.Member{}, []byte(body))) }
	for body, want := range map[string]string{
		`{"kind":"telepathy"}`:                              `{"error":"unknown_request"}`,
		`{"kind":"connection"}`:                             `{"error":"bad_request"}`,
		`{"kind":"connections","args":{"everything":true}}`: `{"error":"bad_request"}`,
		`{`:                                     `{"error":"bad_request"}`,
		`{"kind":"connection","args":{"id":9}}`: `{"error":"unknown_connection"}`,
	} {
		if got := ask(body); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	stat := pubsub.Stat{Tenants: slices.Repeat([]string{strings.Repeat("t", 128)}, pubsub.MaxTenantsCounted)}
	page := pubsub.ConnectionPage{}
	for id := range uint64(MaxLimit) {
		stat.ID = id + 1
		page.Connections = append(page.Connections, stat)
	}
	encoded, err := fitting(page)
	if err != nil || len(encoded) > pubsub.MaxAnswer || len(encoded) < pubsub.MaxAnswer/4 {
		t.Errorf("a page of %d bytes, %v", len(encoded), err)
	}
	detail := pubsub.ConnectionDetail{Patterns: slices.Repeat([]pubsub.TenantPattern{{Tenant: strings.Repeat("t", 128), Pattern: strings.Repeat("p", 600)}}, 1000)}
	if encoded, err = fitting(detail); err != nil || len(encoded) > pubsub.MaxAnswer {
		t.Errorf("a detail of %d bytes, %v", len(encoded), err)
	}
}

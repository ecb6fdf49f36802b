package overlay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/memory"
)

// crowd is a broker whose other edges the test makes up.
type crowd struct {
	pubsub.Broker
	list   []pubsub.Member
	answer func(edge string, r request) any
}

func (c *crowd) Members() []pubsub.Member { return c.list }

func (c *crowd) HandleRequests(func(context.Context, pubsub.Member, []byte) []byte) {}

func (c *crowd) Request(ctx context.Context, edge string, body []byte) ([]byte, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", pubsub.ErrNoAnswer, ctx.Err())
	}
	result, err := json.Marshal(c.answer(edge, r))
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply{Result: result})
}

// among returns an edge among others, that answer.
func among(t *testing.T, answer func(edge string, r request) any, others ...pubsub.Member) *edge {
	t.Helper()
	c := &crowd{memory.New(), append([]pubsub.Member{{ID: "self"}}, others...), answer}
	return openEdge(t, c)
}

// An edge is who has the ID. One that claims the ID, or the host, of another one gets nothing
// that is meant for that.
func TestEdgesInDisguise(t *testing.T) {
	e := among(t, nil,
		pubsub.Member{ID: "0001", Host: "0002"}, pubsub.Member{ID: "0002", Host: "eu.example.com"},
		pubsub.Member{ID: "0003", Host: "eu.example.com"}, pubsub.Member{ID: "0004", Name: "local", Host: "us.example.com"})
	for edge, want := range map[string]string{"0002": "0002", "0001": "0001", "us.example.com": "0004", "local": "self", "self": "self"} {
		if m, self, err := e.member(edge); m.ID != want || self != (want == "self") || err != nil {
			t.Errorf("%s is %s, %v, %v", edge, m.ID, self, err)
		}
	}
	if _, _, err := e.member("eu.example.com"); !errors.Is(err, ErrAmbiguousEdge) {
		t.Errorf("a host of two edges: %v", err)
	}
	for _, edge := range []string{"", "nowhere"} {
		if _, _, err := e.member(edge); !errors.Is(err, ErrUnknownEdge) {
			t.Errorf("%q: %v", edge, err)
		}
	}
}

// Edges with malformed answers are named, and hide nothing of the others.
func TestAnswersThatAreNone(t *testing.T) {
	rows := func(ids ...uint64) (list []pubsub.Stat) {
		for _, id := range ids {
			list = append(list, pubsub.Stat{ID: id})
		}
		return list
	}
	many := make([]uint64, DefaultLimit+1)
	for i := range many {
		many[i] = uint64(i + 1)
	}
	for name, lie := range map[string]pubsub.ConnectionPage{
		"more rows than were asked for": {Connections: rows(many...)},
		"rows that come again":          {Connections: rows(1, 1)},
		"rows before the cursor":        {Connections: rows(0)},
		"a next page of nothing":        {Next: 7},
		"a next page further on":        {Connections: rows(1), Next: 9},
	} {
		e := among(t, func(edge string, r request) any {
			if edge == "honest" {
				return pubsub.ConnectionPage{Total: 1, Matching: 1, Connections: rows(5)}
			}
			lie.Total, lie.Matching = 1, 1
			return lie
		}, pubsub.Member{ID: "a"}, pubsub.Member{ID: "honest"})
		list, err := e.Connections(t.Context(), Query{})
		if err != nil || len(list.Connections) != 1 || list.Connections[0].Edge != "honest" || list.NextCursor != "" || list.Edges[1].Answered {
			t.Errorf("%s: %+v %v", name, list, err)
		}
	}

	floats := []float64{1}
	for name, lie := range map[string]any{
		"nothing":        struct{}{},
		"no lists":       overviewResult{Samples: Samples{IntervalSeconds: 5}},
		"one list short": overviewResult{Samples: Samples{IntervalSeconds: 5, Connections: []int{1}, MemoryBytes: []uint64{1}, MessagesIn: floats, Deliveries: floats, Dropped: floats, Refused: []float64{}}},
		"no interval":    overviewResult{Samples: Samples{Connections: []int{1}, MemoryBytes: []uint64{1}, MessagesIn: floats, Deliveries: floats, Dropped: floats, Refused: floats}},
	} {
		e := among(t, func(string, request) any { return lie }, pubsub.Member{ID: "a"})
		if list := e.Overview(); !list[0].Answered || list[1].Answered || list[1].Samples != nil {
			t.Errorf("%s: %+v", name, list[1])
		}
	}
}

// However many edges there are, and operators who look at them, few requests are under way.
func TestRequestsAreBounded(t *testing.T) {
	var others []pubsub.Member
	for i := range 200 {
		others = append(others, pubsub.Member{ID: fmt.Sprintf("%04d", i), State: []string{pubsub.MemberHere, pubsub.MemberSilent}[i%2]})
	}
	var now, most, asked atomic.Int64
	e := among(t, func(_ string, r request) any {
		asked.Add(1)
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if r.Kind == kindStatus {
			return Status{}
		}
		return pubsub.ConnectionPage{}
	}, others...)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if list := e.Edges(); slices.ContainsFunc(list, func(s EdgeStatus) bool { return !s.Answered }) {
				t.Error("an edge is left out")
			}
		})
	}
	all.Wait()
	if n := asked.Load(); n >= 50*200 {
		t.Errorf("%d requests: lookers at the same time do not share them", n)
	}
	for range 50 {
		all.Go(func() {
			list, err := e.Connections(t.Context(), Query{})
			if err != nil || len(list.Edges) != 201 {
				t.Errorf("%d edges, %v", len(list.Edges), err)
			}
		})
	}
	all.Wait()
	if n := most.Load(); n > maxRounds*maxAsked {
		t.Errorf("%d requests at a time, want %d at most", n, maxRounds*maxAsked)
	}
}

// operations are what a hook is told.
type operations struct {
	mu   sync.Mutex
	list []hook.Operation
}

func (o *operations) Operated(op hook.Operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, op)
}

// What operators of other edges change here is told to the hooks of this edge, and what they
// may not.
func TestHooksOfTheEdgeThatIsAsked(t *testing.T) {
	e := openEdge(t, memory.New())
	told := new(operations)
	e.hub.SetHooks([]pubsub.NamedHook{{Name: "test", Hook: told}})
	from := pubsub.Member{ID: "0001", Host: "eu.example.com"}
	ask := func(body string) { e.answer(context.Background(), from, []byte(body)) }
	e.connect("one", "192.0.2.1")
	ask(`{"kind":"status"}`)
	ask(`{"kind":"disconnect","args":{"token_id":"one"}}`)
	ask(`{"kind":"disconnect","args":{"id":99}}`)
	e.SetPolicy(View)
	ask(`{"kind":"drain"}`)
	e.SetPolicy(Manage)
	ask(`{"kind":"drain"}`)
	const actor = "edge:eu.example.com"
	want := []hook.Operation{
		{Name: "disconnect", Actor: actor, Status: 200, TokenID: "one"},
		{Name: "disconnect", Actor: actor, Status: 404, Code: "unknown_connection", Connection: 99},
		{Name: "drain", Actor: actor, Status: 403, Code: "not_allowed"},
		{Name: "drain", Actor: actor, Status: 200},
	}
	told.mu.Lock()
	defer told.mu.Unlock()
	if fmt.Sprint(told.list) != fmt.Sprint(want) {
		t.Errorf("got\n%+v\nwant\n%+v", told.list, want)
	}
}

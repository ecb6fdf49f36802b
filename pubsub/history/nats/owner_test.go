package nats

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/outage"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// Whose a tenant is comes back as it was sent, beside a sender or without; what is no name counts for nobody.
func TestOwnerHeader(t *testing.T) {
	for _, sender := range []string{"", "ann"} {
		for _, owner := range []string{"", "paint.", strings.Repeat("a", 32)} {
			h := headerOf(&history.Message{Sender: []byte(sender)}, owner)
			if (h == nil) != (sender == "" && owner == "") {
				t.Errorf("%q of %q: header %v", owner, sender, h)
			}
			got, invalid := parseSender(h)
			if parseOwner(h) != owner || string(got) != sender || invalid {
				t.Errorf("%q of %q comes back as %q of %q, invalid: %v", owner, sender, parseOwner(h), got, invalid)
			}
		}
	}
	for _, bad := range []string{"", "a b", strings.Repeat("a", 200)} {
		if got := parseOwner(client.Header{headerOwner: {bad}}); got != "" {
			t.Errorf("%q counts for %q", bad, got)
		}
	}
}

// An edge that opens a history later knows whose its tenants are, also where another issuer stored what is
// left.
func TestOwnerIsStored(t *testing.T) {
	a, b, by := openTwo(t)
	for _, s := range []*Store{a, b} {
		follow(t, s, "h")
	}
	at := putOf(t, a, "paint.", "t", "c", "1")
	awaitHead(t, b, "h", at)
	putOf(t, b, "guest.", "t", "d", "2")
	if _, err := a.Purge("h", "t", "c"); err != nil {
		t.Fatal(err)
	}
	at = putOf(t, a, "paint.", "t", "d", "3")
	later := open(t, by)
	define(t, later, definition("h"))
	for _, s := range []*Store{a, b, later} {
		awaitHead(t, s, "h", at)
		st := s.find("h")
		st.mu.Lock()
		owner := st.index.Owner("t")
		st.mu.Unlock()
		if owner != "paint." {
			t.Errorf("the tenant is %q's", owner)
		}
	}
}

// A tenant that another owner has taken since is told, by an edge that reads the history later, of what was removed
// from the one before.
func TestGapOfATakenTenant(t *testing.T) {
	ctx, done := context.WithTimeout(context.Background(), natstest.Limit)
	defer done()
	a, _, by := openTwo(t)
	putOf(t, a, "b.", "quiet", "c", "stays")
	at := fillHistory(t, a, manyMessages)
	st, list := a.find("h"), most(a)
	last := putOf(t, a, "a.", "t", "c", "the last")
	st.mu.Lock()
	st.index.RemoveTo("t", last.N)
	st.mu.Unlock()
	putOf(t, a, "b.", "t", "c", "another one's")
	must(t, st.trims.remove(ctx, payer{owner: "a."}, append(list, trim{"t", last.N, 1})))
	later := open(t, by)
	define(t, later, definition("h"))
	if page := read(t, later, query("h", "t", "#", at.N)); texts(page) != "c=another one's" || page.Removed.N < last.N {
		t.Errorf("%q, and up to %v is removed", texts(page), page.Removed)
	}
	if page := read(t, later, query("h", "quiet", "#", at.N)); page.Removed.N > at.N {
		t.Errorf("of a tenant that lost nothing, up to %v is removed", page.Removed)
	}
}

// Of an owner with half of a history in thousands of tenants, each message makes room in another tenant. The
// others' messages stay, none of theirs waits for that or is refused, and nothing piles up in the stream.
func TestManyTenantsMakeRoom(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s)), open(t, natstest.Connect(s))
	small := func(d *history.Definition) { d.Limits.Size = history.MinSize }
	define(t, a, definition("h", small))
	define(t, b, definition("h", small))
	follow(t, b, "h")
	first := putOf(t, a, "quiet.", "quiet", "c", "1")
	const tenants = 6000
	results := make(chan history.Result, tenants)
	for i := range tenants {
		a.Append(&history.Message{
			History: "h", Tenant: fmt.Sprint("loud", i), Channel: []byte("c"), Owner: "loud.",
			Stored: func(_ *history.Message, r history.Result) { results <- r },
		})
	}
	at := wire.Position{}
	for i := range tenants {
		r := natstest.Receive(t, "a result", results)
		if r.Err != nil {
			t.Fatalf("message %d: %v", i, r.Err)
		}
		if at = r.Position; i%500 == 0 {
			at = putOf(t, b, "quiet.", "quiet", "c", "2")
		}
	}
	for _, edge := range []*Store{a, b} {
		awaitHead(t, edge, "h", at)
		if page := read(t, edge, query("h", "quiet", "#", 0)); page.Removed.N > 0 || len(page.Messages) != 13 {
			t.Errorf("of the other one's 13 messages, %d are left; up to %v is removed", len(page.Messages), page.Removed)
		}
	}
	if notes := countNotes(t, operator(t, s.ClientURL())); notes == 0 || notes > 400 {
		t.Errorf("%d notes", notes)
	}
	stream, err := operator(t, s.ClientURL()).Stream(context.Background(), "p_history_h")
	must(t, err)
	if state := stream.CachedInfo().State; state.FirstSeq > 20 || state.Bytes > history.MinSize {
		t.Errorf("the stream begins at %d and has %d bytes", state.FirstSeq, state.Bytes)
	}
	later := open(t, natstest.Connect(s))
	define(t, later, definition("h", small))
	for tenant, lost := range map[string]bool{"loud0": true, "quiet": false} {
		if page := read(t, later, query("h", tenant, "#", first.N)); (page.Removed.N > first.N) != lost {
			t.Errorf("an edge that comes later says of %s that up to %v is removed", tenant, page.Removed)
		}
	}
	if page := read(t, later, query("h", "nobody", "#", 0)); page.Removed.N+500 > at.N { // what is left is newer
		t.Errorf("an edge that comes later says of a tenant without messages that up to %v is removed, of %v", page.Removed, at)
	}
}

// Who publishes in another one's tenants waits for the room that these make, and so no message of others goes.
func TestGuestWaitsForRoom(t *testing.T) {
	t.Parallel()
	a := open(t, natstest.Connect(natstest.Server(t)))
	define(t, a, definition("h", func(d *history.Definition) { d.Limits.Size = history.MinSize }))
	putOf(t, a, "quiet.", "quiet", "c", "1")
	const tenants, messages = 10, 6000 // so that none is ever empty, and the host's no more
	for i := range tenants {
		putOf(t, a, "host.", fmt.Sprint("t", i), "c", "first")
	}
	results := make(chan history.Result, messages)
	for i := range messages {
		a.Append(&history.Message{
			History: "h", Tenant: fmt.Sprint("t", i%tenants), Channel: fmt.Append(nil, i), Owner: "guest.", Payload: make([]byte, 500),
			Stored: func(_ *history.Message, r history.Result) { results <- r },
		})
	}
	for i := range messages {
		if must(t, natstest.Receive(t, "a result", results).Err); i%500 == 0 {
			putOf(t, a, "host.", "t0", "c", "next")
		}
	}
	if page := read(t, a, query("h", "quiet", "#", 0)); len(page.Messages) != 1 || page.Removed.N > 0 {
		t.Errorf("%d of the other one's messages are left; up to %v is removed", len(page.Messages), page.Removed)
	}
}

// Whoever's messages cannot be removed fast enough waits, and others do not; beyond a bound, the oldest of
// all go. What another edge has begun to remove is left to it, for a while.
func TestTrimsOfPayer(t *testing.T) {
	st := newStream(new(Store), "h")
	st.size.Store(48 << 10) // 1 KiB may wait for each
	st.index = index.New(0, history.DefaultLimits(), nil)
	add := func(owner, tenant string, n uint64) bool {
		return st.trims.add(owner, tenant, &index.Entry{N: n, Size: 256 - index.EntryOverhead})
	}
	for n := range uint64(5) {
		if !add("a.", fmt.Sprint("a.", n), n+1) {
			t.Fatalf("message %d is refused", n)
		}
	}
	push := func(owner, tenant string) {
		must(t, st.out.push(&history.Message{History: "h", Tenant: tenant, Owner: owner, Channel: []byte("c")}))
	}
	for i := range 4 {
		for _, owner := range []string{"a.", "b."} {
			push(owner, fmt.Sprint(owner, i))
		}
	}
	st.index.Add("a.", "its", []byte("c"), wire.Position{N: 1, T: 1}, nil, nil, 0)
	push("b.", "its")
	take := func() (tenants string) {
		for m := st.out.begin(); m != nil; m = st.out.begin() {
			tenants += m.Tenant + " "
		}
		return tenants
	}
	if got := take(); got != "b.0 b.1 b.2 b.3 " {
		t.Errorf("while one has to wait, %q is sent", got)
	}
	now := time.Now()
	p, list, _ := st.trims.next(now)
	if p.owner != "a." || len(list) != 5 {
		t.Errorf("%+v, %d messages are to be removed", p, len(list))
	}
	if _, list, wait := st.trims.next(now); list != nil || wait <= 0 || wait > claimTime {
		t.Errorf("what is removed already: %d messages, and %v", len(list), wait)
	}
	st.trims.claim(p, now.Add(claimTime/2))
	if _, list, _ := st.trims.next(now.Add(claimTime)); len(list) != 5 {
		t.Errorf("%d messages of an edge that does not come back, or tries again and again", len(list))
	}
	st.trims.done(p, 0)
	if _, list, wait := st.trims.next(now.Add(claimTime)); len(list) != 5 {
		t.Errorf("%d messages, and a wait of %v, of one that could remove nothing", len(list), wait)
	}
	st.trims.done(p, 4)
	if got := take(); !slices.Equal(slices.Sorted(strings.FieldsSeq(got)), []string{"a.0", "a.1", "a.2", "a.3", "its"}) || len(st.out.held) > 0 {
		t.Errorf("when there is room, %q is sent", got)
	}
	n := uint64(100)
	for add("", "large", n) {
		n++
	}
	if tenth := int64(48 << 10 / 10); st.trims.bytes > tenth+256 || st.trims.bytes < tenth {
		t.Errorf("%d bytes wait to be removed", st.trims.bytes)
	}
	if !st.trims.isBehind(payer{tenant: "large"}) || st.trims.isBehind(payer{owner: "a."}) {
		t.Error("not the one waits that is behind")
	}
	if st.trims.done(payer{tenant: "large"}, n); st.trims.bytes != 256 || st.trims.behind.Load() != 0 || len(st.trims.of) != 1 {
		t.Errorf("left: %d bytes of %d", st.trims.bytes, len(st.trims.of))
	}
}

// What comes to a payer with a tenant, and is older than what it has, goes next; and if that comes after the
// list was made, with the next one.
func TestTrimsOfATenantThatComes(t *testing.T) {
	st, p := newStream(new(Store), "h"), payer{owner: "a."}
	st.size.Store(16 << 20)
	add := func(from, to uint64) {
		for n := from; n <= to; n++ {
			st.trims.add("a.", "a.t", &index.Entry{N: n})
		}
	}
	add(100, 99+maxTrimmed)
	add(5, 5)
	_, list, _ := st.trims.next(time.Now())
	if len(list) != maxTrimmed || list[0].n != 5 {
		t.Fatalf("of %d messages, %d is the first", len(list), list[0].n)
	}
	add(3, 3)
	st.trims.done(p, list[len(list)-1].n)
	if left := st.trims.of[p].list; len(left) != 2 || left[0].n != 99+maxTrimmed || left[1].n != 3 {
		t.Errorf("left: %v", left)
	}
}

// A payer whose messages an edge cannot remove keeps it from no other one, and is tried after these, later and
// later.
func TestTrimsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStream(&Store{log: zap.NewNop(), faults: outage.New(zap.NewNop(), 0), conn: new(client.Conn)}, "h") // which is not connected
		st.size.Store(48 << 10)
		st.up = true
		a, b, c := payer{owner: "a."}, payer{owner: "b."}, payer{owner: "c."}
		for p, size := range map[payer]int{a: 1000, b: 600, c: 100} {
			st.trims.add(p.owner, "t", &index.Entry{N: 1, Size: size})
		}
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan struct{})
		go func() { // ends with ctx
			defer close(running)
			st.trims.run(ctx)
		}()
		time.Sleep(trimPause / 2)
		st.trims.mu.Lock()
		for p, tried := range map[payer]bool{a: true, b: true, c: false} {
			if is := st.trims.of[p].claimed.After(time.Now()); is != tried {
				t.Errorf("%s is tried: %v", p.owner, is)
			}
		}
		st.trims.mu.Unlock()
		time.Sleep(10 * maxTrimPause)
		stop()
		<-running
		if pause := st.trims.failed[a].pause; pause != maxTrimPause {
			t.Errorf("the pause is %v", pause)
		}
		st.trims.add("c.", "t", &index.Entry{N: 2, Size: 100})
		if p, _, _ := st.trims.next(time.Now().Add(maxTrimPause)); p != c {
			t.Errorf("%s is next", p.owner)
		}
	})
}

// An edge that reads a history, and so what another one is removing, does not remove it as well.
func TestTrimsOfALoad(t *testing.T) {
	st := newStream(new(Store), "h")
	st.size.Store(48 << 10)
	st.index = index.New(0, history.DefaultLimits(), nil)
	st.index.OnShrink(st.trims.add)
	for n := range uint64(5) {
		st.index.Add("a.", "t", []byte("c"), wire.Position{N: n + 1, T: 1}, nil, nil, 256)
	}
	st.takeTrim(trimNote{payer{owner: "a."}, 5, false}, wire.Position{N: 6, T: 1}, true)
	if _, list, wait := st.trims.next(time.Now()); list != nil || wait <= 0 {
		t.Errorf("%d messages, and a wait of %v", len(list), wait)
	}
}

// What one payer has under way at several edges when it is stopped has room, too: no message of others goes
// for it.
func TestTrimsOfManyEdges(t *testing.T) {
	for size, edges := range map[int64]int{history.MinSize: 5, history.DefaultLimits().Size: 10} {
		st := newStream(new(Store), "h")
		st.size.Store(size)
		message := st.window() / 16
		for i := range edges * 16 {
			for i == 0 && !st.trims.isBehind(payer{owner: "a."}) {
				st.trims.add("a.", "a.t", &index.Entry{Size: message - index.EntryOverhead})
			}
			if !st.trims.add("a.", "a.t", &index.Entry{Size: message - index.EntryOverhead}) {
				t.Fatalf("of %d bytes: message %d of %d that are under way is refused", size, i, edges*16)
			}
		}
	}
}

// Notes about cuts come back as they were written; of a broken one it is not known whom it is about.
func TestTrimNotes(t *testing.T) {
	n := newNames("p")
	for _, want := range []trimNote{
		{payer{owner: "a."}, 7, false}, {payer{owner: "a."}, 7, true}, {payer{tenant: "t.u"}, 7, false}, {payer{tenant: "t"}, 7, true},
	} {
		subject := strings.TrimPrefix(want.payer.note(n, "h", want.done), n.subjects("h"))
		if got, is := parseTrim(subject, "7"); !is || got != want {
			t.Errorf("%s: %+v, want %+v", subject, got, want)
		}
		if got, is := parseTrim(subject, "x"); !is || got.payer != want.payer || got.to != 0 {
			t.Errorf("%s without a number: %+v", subject, got)
		}
		if got, is := parseTrim(strings.TrimSuffix(subject, tenantEnd), "7"); !is || got.payer != (payer{}) {
			t.Errorf("%s, broken: %+v", subject, got)
		}
	}
	if _, is := parseTrim("c.mark.1", "7"); is {
		t.Error("a mark is taken for one")
	}
}

package nats

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// join links two stores as a broker does.
func join(a, b testStore, doubt func(id string)) {
	a.Link(func(m []byte) { _ = b.takeNotice(m) }, func(string) {})
	b.Link(func(m []byte) { _ = a.takeNotice(m) }, doubt)
}

// claim is a notice that a record has a revision.
func claim(t *testing.T, s testStore, revision uint64, ids ...string) []byte {
	t.Helper()
	n := notice{Bucket: s.progress.snapshot().created}
	for _, id := range ids {
		n.Changed = append(n.Changed, change{keyOf(access, id), revision})
	}
	message, err := json.Marshal(n)
	must(t, err)
	return message
}

// An edge that hears of a change by the link, and not from the bucket, asks the leader. Without
// an answer it lets nobody in with that token, and ends its sessions; others go on.
func TestNotice(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	far := natstest.StartProxy(t, server)
	a, b := openReady(t, natstest.Connect(server), patient), openReady(t, far.Connect(), patient)
	doubted := make(chan string, 10)
	join(a, b, func(id string) { doubted <- id })
	rec, other := create(t, a, record("a", "one")), create(t, a, record("other", "x"))
	await(t, "the records to be here", func() bool { return has(t, b, rec) && has(t, b, other) })
	far.Hold()
	rec = update(t, a, rec, "two")
	_, err := b.Get(t.Context(), access, "a")
	wantErr(t, "Get", err, tokenstore.ErrUnavailable)
	_, err = b.GetLocal(t.Context(), access, "a")
	wantErr(t, "GetLocal", err, tokenstore.ErrUnavailable, "another edge has changed this token")
	same(t, "whose sessions end", natstest.Receive(t, "word of the token", doubted), "a")
	wantRecord(t, b, other)
	far.Resume()
	await(t, "the change", func() bool { return has(t, b, rec) })
	same(t, "how many tokens were doubted", len(doubted), 0)
}

// An edge whose copy is not confirmed asks the others what it has missed.
func TestMissedNotices(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	far := natstest.StartProxy(t, server)
	a, b := openReady(t, natstest.Connect(server), patient), openReady(t, far.Connect(), patient)
	rec := create(t, a, record("a", "one"))
	await(t, "the record to be here", func() bool { return has(t, b, rec) })
	far.Hold()
	rec = update(t, a, rec, "two") // nobody tells b
	doubted := make(chan string, 10)
	join(a, b, func(id string) { doubted <- id })
	same(t, "whose sessions end", natstest.Receive(t, "word of the token", doubted), "a")
	_, err := b.Get(t.Context(), access, "a")
	wantErr(t, "Get", err, tokenstore.ErrUnavailable)
	awaitLog(t, b, "the bucket's leader does not confirm the tokens", "last_error")
	far.Resume()
	await(t, "the change", func() bool { return has(t, b, rec) })
	awaitLog(t, b, "the bucket's leader confirms the tokens again")
}

// Claims prove nothing: they last until the leader has been asked, and there are no more than records.
func TestFalseNotices(t *testing.T) {
	t.Parallel()
	s := openOne(t)
	rec := create(t, s, record("a", "x"))
	await(t, "a confirmed copy", func() bool { return s.progress.snapshot().applied >= rec.Version })
	for _, message := range []string{"", "x", `{"changed":1}`, fmt.Sprintf(`{"bucket":%q,"changed":[{"key":"1.="}]}`, s.progress.snapshot().created.Format(time.RFC3339Nano))} {
		wantErr(t, message, s.takeNotice([]byte(message)), errNotice)
	}
	must(t, s.takeNotice([]byte(`{"changed":[{"key":"1.a","revision":99}]}`))) // of another bucket
	must(t, s.takeNotice(claim(t, s, rec.Version, "a", "unknown")))            // it has that
	if held, _ := s.mirror.held(); len(held) > 0 {
		t.Errorf("held: %v", held)
	}
	must(t, s.takeNotice(claim(t, s, 1<<63, "a")))
	await(t, "the record", func() bool { return has(t, s, rec) })
	rec = update(t, s, rec, "y")
	wantRecord(t, s, rec)
	ids := make([]string, maxRecent+1)
	wantErr(t, "too many", s.takeNotice(claim(t, s, 1, ids...)), errNotice)
}

// An edge names the last changes that may have ended a right, not too many and not too often.
func TestQuestionsOfEdges(t *testing.T) {
	t.Parallel()
	s := openOne(t)
	s.stop()
	s.running.Wait()
	s.progress.created = time.Now()
	sent := make(chan notice, 10)
	s.Link(func(m []byte) {
		var n notice
		must(t, json.Unmarshal(m, &n))
		sent <- n
	}, nil)
	refreshed := []byte(`{"v":1,"expires_at":"2030-01-01T00:00:00Z"}`)
	for i := range uint64(maxRecent + 10) {
		rec := tokenstore.Record{Kind: access, ID: fmt.Sprint(i % 4), Version: i + 1, Value: []byte("x")}
		if i%4 == 1 {
			rec.Value = refreshed
		}
		s.mirror.put(rec, 0)
	}
	ask := func(after uint64) {
		message, err := json.Marshal(notice{Bucket: s.progress.created, After: &after})
		must(t, err)
		must(t, s.takeNotice(message))
	}
	ask(maxRecent + 10)
	same(t, "answers where there is nothing to tell", len(sent), 0)
	ask(maxRecent)
	ask(0)
	same(t, "answers to two questions", len(sent), 1)
	if got, want := fmt.Sprint((<-sent).Changed), "[{1.0 1025} {1.2 1027} {1.3 1028} {1.0 1029} {1.2 1031} {1.3 1032} {1.0 1033}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i := range uint64(2 * maxRecent) {
		s.mirror.put(tokenstore.Record{Kind: access, ID: "0", Version: 2000 + i}, 0)
	}
	list := s.mirror.changesAfter(0)
	if len(list) != maxRecent || len(s.mirror.changesAfter(2000+maxRecent-1)) != maxRecent {
		t.Errorf("remembers %d changes", len(list))
	}
}

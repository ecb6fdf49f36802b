package tokenstore_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// Whatever was issued before a revocation is answered is gone then, on any Service of the
// store, and issuing goes on when the subject is open again.
func TestRevokeSubjectWhileIssuing(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	index := tokenstore.NewIndex(b.store)
	defer index.Close()
	services := []*tokenstore.Service{newTestbedOn(t, b.store, tokenstore.Config{Index: index}).Service, b.Service, newTestbedOn(t, b.store, tokenstore.Config{}).Service}
	request := tokenstore.IssueRequest{CreatedBy: "test", Subject: "ada", Right: grantAll("demo")}
	alive := storetest.RevokeWhileIssuing(t, services, request, 20, func(tokens []string) {
		for _, token := range tokens {
			if _, err := b.Authenticate(t.Context(), token); err == nil {
				t.Fatalf("one of %d tokens lives", len(tokens))
			}
		}
	})
	for _, token := range alive {
		if _, err := b.Authenticate(t.Context(), token); err != nil {
			t.Fatal("a token that was issued after all revocations does not live")
		}
	}
}

// While a subject is closed, tokens that are revoked are not issued, and others are.
func TestClosedSubject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestbed(t, tokenstore.Config{})
		paint, _ := b.master(t, "paint")
		other, _ := b.master(t, "other")
		n, reopen, err := b.RevokeAndClose(t.Context(), paint, "ada")
		if n != 0 || err != nil {
			t.Fatal(n, err)
		}
		start := time.Now()
		b.issueFor(t, other, "ada", "us")
		b.issueFor(t, paint, "bob", "us")
		b.issueFor(t, b.Overlay(), "ada", "paint.us", "other.us") // paint does not manage it
		b.issue(t, paint, grantAll("us"))
		equal(t, "the others waited for", time.Since(start), 0)
		done := make(chan tokenstore.Issued)
		go func() { done <- b.issueFor(t, paint, "ada", "us") }()
		synctest.Wait()
		select {
		case <-done:
			t.Error("a token was issued while its subject was closed")
		default:
		}
		reopen()
		if issued := <-done; time.Since(start) != 0 {
			t.Errorf("%s was issued %v after the subject was reopened", issued.TokenID, time.Since(start))
		}
	})
}

// createStore holds the creation of access tokens while held is not nil.
type createStore struct {
	tokenstore.Store
	held chan struct{}
}

func (s *createStore) Create(ctx context.Context, rec tokenstore.Record) (uint64, error) {
	if rec.Kind == tokenstore.KindAccess && s.held != nil {
		<-s.held
	}
	return s.Store.Create(ctx, rec)
}

// A token that is stored after a revocation has searched, by an Issue that found the subject
// open, is not given to anybody before the subject is reopened.
func TestIssueOvertakenByRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &createStore{storetest.NewMemory(), make(chan struct{})}
		b := newTestbedOn(t, store, tokenstore.Config{})
		done := make(chan tokenstore.Issued)
		go func() { done <- b.issueFor(t, b.Overlay(), "ada", "demo") }()
		synctest.Wait() // it is about to store the token
		_, reopen, err := b.RevokeAndClose(t.Context(), b.Overlay(), "ada")
		must(t, err)
		close(store.held)
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("the token was issued before the revocation was answered, and lives")
		default:
		}
		if left := b.list(t, b.Overlay(), tokenstore.ListOptions{Subject: "ada"}); len(left) > 0 {
			t.Errorf("a token that nobody got is left: %v", left)
		}
		reopen()
		issued := <-done
		noError(t, errorOf(b.Authenticate(t.Context(), issued.Token)))
	})
}

// dyingStore refuses all changes once its edge is dead.
type dyingStore struct {
	tokenstore.Store
	dead atomic.Bool
}

func (s *dyingStore) Update(ctx context.Context, rec tokenstore.Record) (uint64, error) {
	if s.dead.Load() {
		return 0, tokenstore.ErrUnavailable
	}
	return s.Store.Update(ctx, rec)
}

func (s *dyingStore) Delete(ctx context.Context, kind tokenstore.Kind, id string, version uint64) error {
	if s.dead.Load() {
		return tokenstore.ErrUnavailable
	}
	return s.Store.Delete(ctx, kind, id, version)
}

// A revocation whose edge has died holds others up for 5 s: those who issue, and its own
// master token where that had as many as it may. Nobody else notices.
func TestDeadRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestbed(t, tokenstore.Config{})
		paint, _ := b.master(t, "paint")
		other, _ := b.master(t, "other")
		dying := &dyingStore{Store: b.store}
		for range 2 { // edges
			edge := newTestbedOn(t, dying, tokenstore.Config{})
			for range 8 {
				must(t, third(edge.RevokeAndClose(t.Context(), paint, "ada")))
			}
		}
		dying.dead.Store(true)
		start := time.Now()
		for _, m := range []*tokenstore.Master{other, b.Overlay()} {
			must(t, errorOf(b.RevokeSubject(t.Context(), m, "ada")))
			b.issueFor(t, other, "ada", "us")
		}
		equal(t, "others waited for", time.Since(start), 0)
		must(t, errorOf(b.RevokeSubject(t.Context(), paint, "ada")))
		equal(t, "its own master token waited for", time.Since(start), 5*time.Second)
		b.issueFor(t, paint, "ada", "us")
		equal(t, "those who issue after it waited for", time.Since(start), 5*time.Second)

		dying.dead.Store(false)
		edge := newTestbedOn(t, dying, tokenstore.Config{})
		must(t, third(edge.RevokeAndClose(t.Context(), paint, "ada")))
		dying.dead.Store(true)
		start = time.Now()
		b.issueFor(t, paint, "ada", "us")
		equal(t, "those who issue waited for", time.Since(start), 5*time.Second)
		b.issueFor(t, paint, "ada", "us")
		equal(t, "and again for", time.Since(start), 5*time.Second)
	})
}

// third is the error of a call that returns something else, too.
func third[A, B any](_ A, _ B, err error) error { return err }

// Callers who do not take their answers hold nobody up but, for a second, those of their own
// namespace.
func TestUnansweredRevocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestbed(t, tokenstore.Config{})
		paint, _ := b.master(t, "paint")
		other, _ := b.master(t, "other")
		refused := 0
		for range 70 { // never reopened
			if _, _, err := b.RevokeAndClose(t.Context(), paint, "ada"); errors.Is(err, tokenstore.ErrTooManyRequests) {
				refused++
			}
		}
		equal(t, "refused", refused, 70-8)
		start := time.Now()
		for _, m := range []*tokenstore.Master{other, b.Overlay()} {
			must(t, errorOf(b.RevokeSubject(t.Context(), m, "ada")))
			b.issueFor(t, other, "ada", "us")
		}
		equal(t, "others waited for", time.Since(start), 0)
		b.issueFor(t, paint, "ada", "us")
		equal(t, "its own master token waited for", time.Since(start), time.Second)
		synctest.Wait()
		equal(t, "its revocations go on", errorOf(b.RevokeSubject(t.Context(), paint, "ada")), nil)
	})
}

// heldStore holds changes of access tokens until held is closed.
type heldStore struct {
	tokenstore.Store
	held    chan struct{}
	holding atomic.Int64 // how many it holds
}

func (s *heldStore) Update(ctx context.Context, rec tokenstore.Record) (uint64, error) {
	if rec.Kind == tokenstore.KindAccess {
		s.holding.Add(1)
		defer s.holding.Add(-1)
		select {
		case <-s.held:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return s.Store.Update(ctx, rec)
}

// A revocation that takes long says that it runs: nobody takes it for dead, and Issue gives
// up. Its caller may give up, too.
func TestLongRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &heldStore{Store: storetest.NewMemory(), held: make(chan struct{})}
		b := newTestbedOn(t, store, tokenstore.Config{})
		issued := b.issueFor(t, b.Overlay(), "ada", "demo")
		done := make(chan error)
		go func() {
			n, err := b.RevokeSubject(t.Context(), b.Overlay(), "ada")
			if n != 1 && err == nil {
				err = errors.New("it revoked none")
			}
			done <- err
		}()
		synctest.Wait()
		for range 3 {
			start := time.Now()
			_, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Subject: "ada", Right: grantAll("demo")})
			wantErr(t, "Issue", err, tokenstore.ErrSubjectClosing)
			equal(t, "waited for", time.Since(start), 8*time.Second)
		}
		close(store.held)
		noError(t, <-done)
		_, err := b.Authenticate(t.Context(), issued.Token)
		wantErr(t, "Authenticate", err, tokenstore.ErrUnauthorized)

		store.held = make(chan struct{})
		b.issueFor(t, b.Overlay(), "ada", "demo")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := b.RevokeSubject(ctx, b.Overlay(), "ada")
			done <- err
		}()
		synctest.Wait()
		cancel()
		wantErr(t, "RevokeSubject", <-done, context.Canceled)
		start := time.Now()
		b.issueFor(t, b.Overlay(), "ada", "demo")
		equal(t, "how long the subject was closed after its revocation was cancelled", time.Since(start), 0)
	})
}

// A revocation that others took for dead starts over, and finds what was issued meanwhile.
func TestRevocationTakenForDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &heldStore{Store: storetest.NewMemory(), held: make(chan struct{})}
		b := newTestbedOn(t, store, tokenstore.Config{})
		b.issueFor(t, b.Overlay(), "ada", "demo")
		type result struct {
			n   int
			err error
		}
		done := make(chan result)
		revoke := func() {
			n, err := b.RevokeSubject(t.Context(), b.Overlay(), "ada")
			done <- result{n, err}
		}
		end := func() { // as an edge does that has seen no beat
			t.Helper()
			err := store.Scan(t.Context(), tokenstore.KindClosing, "", func(rec tokenstore.Record) bool {
				go func() {
					for store.Delete(context.Background(), rec.Kind, rec.ID, rec.Version) != nil {
						now, err := store.Get(context.Background(), rec.Kind, rec.ID)
						if err != nil {
							return
						}
						rec = now
					}
				}()
				return true
			})
			must(t, err)
			synctest.Wait()
		}
		go revoke()
		synctest.Wait()
		end()
		b.issueFor(t, b.Overlay(), "ada", "demo")
		time.Sleep(2 * time.Second) // until it gives a beat, in the time of the test
		synctest.Wait()
		close(store.held)
		equal(t, "revoked", <-done, result{2, nil})

		store.held = make(chan struct{})
		b.issueFor(t, b.Overlay(), "ada", "demo")
		go revoke()
		for range 3 {
			synctest.Wait()
			end()
			time.Sleep(2 * time.Second)
		}
		if got := <-done; !errors.Is(got.err, tokenstore.ErrUnavailable) {
			t.Errorf("a revocation that is ended again and again: %+v", got)
		}
	})
}

// A master token has 8 revocations under way; others are not concerned.
func TestTooManyRevocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &heldStore{Store: storetest.NewMemory(), held: make(chan struct{})}
		b := newTestbedOn(t, store, tokenstore.Config{})
		m, _ := b.master(t, "paint")
		other, _ := b.master(t, "other")
		b.issueFor(t, m, "ada", "us")
		done := make(chan error)
		for range 8 {
			go func() {
				_, err := b.RevokeSubject(t.Context(), m, "ada")
				done <- err
			}()
		}
		synctest.Wait()
		_, err := b.RevokeSubject(t.Context(), m, "ada")
		wantErr(t, "the ninth", err, tokenstore.ErrTooManyRequests)
		if _, err := b.RevokeSubject(t.Context(), other, "ada"); err != nil {
			t.Errorf("another's: %v", err)
		}
		close(store.held)
		for range 8 {
			noError(t, <-done)
		}
		if _, err := b.RevokeSubject(t.Context(), m, "ada"); err != nil {
			t.Errorf("after them: %v", err)
		}
	})
}

// One master token takes neither all that is revoked at a time, nor the places of those who
// wait for the end of a revocation.
func TestSharesOfRevocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &heldStore{Store: storetest.NewMemory(), held: make(chan struct{})}
		b := newTestbedOn(t, store, tokenstore.Config{})
		paint, _ := b.master(t, "paint")
		other, _ := b.master(t, "other")
		for range 40 {
			b.issueFor(t, paint, "ada", "us")
		}
		b.issueFor(t, other, "ada", "us")
		done := make(chan error)
		revoke := func(m *tokenstore.Master) { done <- errorOf(b.RevokeSubject(t.Context(), m, "ada")) }
		for range 4 {
			go revoke(paint)
		}
		synctest.Wait()
		equal(t, "tokens that one master token revokes at a time", store.holding.Load(), 16)
		go revoke(other)
		synctest.Wait()
		equal(t, "with those of another", store.holding.Load(), 17)

		go revoke(b.Overlay()) // the subject is closed for all
		synctest.Wait()
		issue := func(m *tokenstore.Master) {
			_, err := b.Issue(t.Context(), m, tokenstore.IssueRequest{CreatedBy: "test", Subject: "ada", Right: grantAll("us")})
			done <- err
		}
		for range 1024 {
			go issue(paint)
		}
		synctest.Wait()
		go issue(paint)
		wantErr(t, "one more", <-done, tokenstore.ErrSubjectClosing)
		go issue(other)
		synctest.Wait()
		close(store.held)
		for range 4 + 1 + 1 + 1024 + 1 {
			noError(t, <-done)
		}
	})
}

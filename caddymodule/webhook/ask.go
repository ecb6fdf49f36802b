package webhook

import (
	"bytes"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/hook"
)

// question is the body of a request that asks. The backend answers 200 and a [verdict].
type question struct {
	ID   string `json:"id"`
	Edge string `json:"edge"`
	Ask  event  `json:"ask"`
}

// verdict is the backend's answer.
type verdict struct {
	Allow  *bool  `json:"allow"`
	Reason string `json:"reason"` // of a refusal; a client that connects is told it
}

// authorize returns nil if the backend allows what e says, or a [hook.Refusal]. Silence is only
// that of a backend that had the whole timeout for a question, and did not say that there are too
// many: whoever keeps all slots taken would otherwise let everybody in, where silence allows.
func (w *worker) authorize(ctx context.Context, e event) error {
	if !w.awaitSlot(ctx, e.issuer, e.TokenID) {
		if ctx.Err() != nil { // the client is gone, or other hooks took all the time
			return ctx.Err()
		}
		return w.notAsked(e, errors.New("too many questions are under way"))
	}
	defer w.slots.release(e.TokenID)
	asked, cancel := context.WithTimeout(ctx, w.ask.timeout)
	defer cancel()
	v, err := w.question(asked, e)
	var unsent unsentError
	switch {
	case err == nil && *v.Allow:
		answersTotal.WithLabelValues("allowed").Inc()
		return nil
	case err == nil:
		answersTotal.WithLabelValues("refused").Inc()
		return hook.Deny(v.Reason)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &unsent):
		return w.notAsked(e, err)
	}
	answersTotal.WithLabelValues("silent").Inc()
	w.limitedLog.Warn("the backend does not answer", zap.String("asked_before", e.Event), zap.Error(err), zap.Bool("allowed", w.ask.allow))
	if w.ask.allow {
		return nil
	}
	return hook.TryLater("the backend that has to allow it does not answer")
}

// notAsked refuses for now what the backend could not be asked about, whatever its silence means.
func (w *worker) notAsked(e event, why error) error {
	answersTotal.WithLabelValues("not_asked").Inc()
	w.limitedLog.Warn("the backend could not be asked", zap.String("before", e.Event), zap.Error(why))
	return hook.TryLater("the backend that has to allow it could not be asked")
}

// awaitSlot waits for a slot, for as long as the backend can still have the whole timeout before ctx
// ends.
func (w *worker) awaitSlot(ctx context.Context, issuer, token string) bool {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-w.ask.timeout))
		defer cancel()
	}
	return w.slots.acquire(ctx, issuer, token)
}

// question asks the backend. The error is an unsentError if this edge had no room to send it, or the
// backend, or a proxy before it, has not looked at it since there were too many.
func (w *worker) question(ctx context.Context, e event) (v verdict, err error) {
	id := newID()
	body, err := json.Marshal(question{id, instance(), e})
	if err != nil {
		return v, unsentError{err}
	}
	a, err := w.backend.post(ctx, id, body)
	switch {
	case err != nil:
		return v, err
	case a.status == http.StatusTooManyRequests:
		return v, unsentError{errors.New("the backend takes no more questions now: it has answered 429")}
	case a.status != http.StatusOK:
		return v, errors.New("the answer must have the status 200; it has " + http.StatusText(a.status))
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	if d.Decode(&v) != nil || v.Allow == nil {
		return v, errors.New(`the answer must be {"allow":true}, or {"allow":false,"reason":"…"}`)
	}
	return v, nil
}

// slots bound how many questions are asked at the same time; one token has half of them at most, and so
// have all tokens of one issuer, where there are several. Issuers whose questions wait take turns, and so
// do the tokens of an issuer, so that nobody waits behind all questions of others.
type slots struct {
	all, half int

	mu       sync.Mutex // guards what follows
	taken    int
	byToken  map[string]*tokenSlots // those that have a slot or wait for one
	byIssuer map[string]*issuerSlots
	turns    list.List // of *issuerSlots that wait
}

// issuerSlots are the questions of the tokens of one issuer.
type issuerSlots struct {
	name   string // empty: there is one issuer
	taken  int
	tokens int           // those in slots.byToken
	turns  list.List     // of *tokenSlots that wait
	turn   *list.Element // in slots.turns; nil: none waits
}

// tokenSlots are the questions of one token.
type tokenSlots struct {
	issuer  *issuerSlots
	taken   int
	waiting list.List     // of chan struct{}, each closed when it has a slot
	turn    *list.Element // in issuerSlots.turns; nil: none waits
}

func newSlots(n int) *slots {
	return &slots{all: n, half: max(1, n/2), byToken: map[string]*tokenSlots{}, byIssuer: map[string]*issuerSlots{}}
}

// of returns the slots of a token. The caller holds s.mu.
func (s *slots) of(issuer, token string) *tokenSlots {
	t := s.byToken[token]
	if t != nil {
		return t
	}
	i := s.byIssuer[issuer]
	if i == nil {
		i = &issuerSlots{name: issuer}
		s.byIssuer[issuer] = i
	}
	i.tokens++
	t = &tokenSlots{issuer: i}
	s.byToken[token] = t
	return t
}

// acquire waits for a slot, and reports false if ctx ends before there is one. Every question that
// waits is a handshake or a subscription that the edge has under way, which bounds their number.
func (s *slots) acquire(ctx context.Context, issuer, token string) bool {
	s.mu.Lock()
	t := s.of(issuer, token)
	ready := make(chan struct{})
	place := t.waiting.PushBack(ready)
	if t.waiting.Len() == 1 {
		t.turn = t.issuer.turns.PushBack(t)
		if t.issuer.turn == nil {
			t.issuer.turn = s.turns.PushBack(t.issuer)
		}
	}
	s.grant()
	s.mu.Unlock()
	select {
	case <-ready:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-ready: // meanwhile
		return true
	default:
	}
	t.waiting.Remove(place)
	s.forget(token, t)
	return false
}

func (s *slots) release(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	t := s.byToken[token]
	t.taken--
	t.issuer.taken--
	s.forget(token, t)
	s.grant()
}

// forget removes a token that has no question any more, and one that does not wait from the turns; and
// its issuer likewise. The caller holds s.mu.
func (s *slots) forget(token string, t *tokenSlots) {
	if t.waiting.Len() > 0 {
		return
	}
	s.endTurn(t)
	if t.taken == 0 {
		delete(s.byToken, token)
		if t.issuer.tokens--; t.issuer.tokens == 0 {
			delete(s.byIssuer, t.issuer.name)
		}
	}
}

// endTurn takes a token that does not wait any more out of the turns. The caller holds s.mu.
func (s *slots) endTurn(t *tokenSlots) {
	if t.turn == nil {
		return
	}
	i := t.issuer
	i.turns.Remove(t.turn)
	t.turn = nil
	if i.turns.Len() == 0 {
		s.turns.Remove(i.turn)
		i.turn = nil
	}
}

// grant gives a free slot to the token whose turn it is. One call for each slot that is freed and
// each question that is added is enough. The caller holds s.mu.
func (s *slots) grant() {
	if s.taken == s.all {
		return
	}
	for e := s.turns.Front(); e != nil; e = e.Next() { // two issuers at most have their half
		i := e.Value.(*issuerSlots)
		if i.name != "" && i.taken >= s.half {
			continue
		}
		t := i.next(s.half)
		if t == nil {
			continue
		}
		s.taken++
		i.taken++
		t.taken++
		s.turns.MoveToBack(e)
		close(t.waiting.Remove(t.waiting.Front()).(chan struct{}))
		if t.waiting.Len() == 0 {
			s.endTurn(t)
		} else {
			i.turns.MoveToBack(t.turn)
		}
		return
	}
}

// next returns the first token of an issuer that waits and may have one slot more; nil: there is none.
func (i *issuerSlots) next(most int) *tokenSlots {
	for e := i.turns.Front(); e != nil; e = e.Next() { // two tokens at most have their half
		if t := e.Value.(*tokenSlots); t.taken < most {
			return t
		}
	}
	return nil
}

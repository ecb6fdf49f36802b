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

// authorize returns nil if the backend allows what e says, or a [hook.Refusal].
func (w *worker) authorize(ctx context.Context, e event) error {
	asked, cancel := context.WithTimeout(ctx, w.ask.timeout)
	defer cancel()
	v, err := w.question(asked, e)
	switch {
	case err == nil && *v.Allow:
		answersTotal.WithLabelValues("allowed").Inc()
		return nil
	case err == nil:
		answersTotal.WithLabelValues("refused").Inc()
		return hook.Deny(v.Reason)
	case ctx.Err() != nil: // the client is gone
		return ctx.Err()
	}
	answersTotal.WithLabelValues("silent").Inc()
	w.limitedLog.Warn("the backend does not answer", zap.String("asked_before", e.Event), zap.Error(err), zap.Bool("allowed", w.ask.allow))
	if w.ask.allow {
		return nil
	}
	return hook.TryLater("the backend that has to allow it does not answer")
}

func (w *worker) question(ctx context.Context, e event) (v verdict, err error) {
	if err := w.slots.acquire(ctx, e.TokenID); err != nil {
		return v, err
	}
	defer w.slots.release(e.TokenID)
	id := newID()
	body, err := json.Marshal(question{id, instance(), e})
	if err != nil {
		return v, err
	}
	a, err := w.backend.post(ctx, id, body)
	switch {
	case err != nil:
		return v, err
	case a.status != http.StatusOK:
		return v, errors.New("the answer must have the status 200; it has " + http.StatusText(a.status))
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	if d.Decode(&v) != nil || v.Allow == nil {
		return v, errors.New(`the answer must be {"allow":true}, or {"allow":false,"reason":"…"}`)
	}
	return v, nil
}

// slots bound how many questions are asked at the same time; one token has half of them
// at most. They are given in the order in which they are waited for.
type slots struct {
	all, perToken int

	mu      sync.Mutex // guards what follows
	taken   int
	byToken map[string]int
	waiting list.List // of *waiter
}

type waiter struct {
	token string
	ready chan struct{} // closed when it has a slot
}

func newSlots(n int) *slots {
	return &slots{all: n, perToken: max(1, n/2), byToken: map[string]int{}}
}

// acquire waits for a slot, until ctx ends. Every question that waits is a handshake or
// a subscription that the edge has under way, which bounds their number.
func (s *slots) acquire(ctx context.Context, token string) error {
	s.mu.Lock()
	w := &waiter{token, make(chan struct{})}
	place := s.waiting.PushBack(w)
	s.grant()
	s.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-w.ready: // meanwhile
		return nil
	default:
	}
	s.waiting.Remove(place)
	return errors.New("too many questions are under way")
}

func (s *slots) release(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.byToken[token]--; s.byToken[token] == 0 {
		delete(s.byToken, token)
	}
	s.grant()
}

// grant gives free slots to those that wait. The caller holds s.mu.
func (s *slots) grant() {
	for e := s.waiting.Front(); e != nil && s.taken < s.all; {
		next := e.Next()
		if w := e.Value.(*waiter); s.byToken[w.token] < s.perToken {
			s.taken++
			s.byToken[w.token]++
			s.waiting.Remove(e)
			close(w.ready)
		}
		e = next
	}
}

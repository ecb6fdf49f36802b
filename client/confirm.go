package client

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/wire"
)

// confirmTimeout is how long after its first try a publish is repeated, or waits for its
// answer. An edge knows keys for 2 minutes.
const confirmTimeout = 100 * time.Second

// PublishOption changes one publish of [Client.PublishConfirmed].
type PublishOption func(*wire.Publish)

// WithKey gives a publish a key of 1 to 64 bytes. What is published again with the same key
// to the same channel within 2 minutes, or within the age of the history if that is
// shorter, is stored once: the first stays, and gives its position. So the client can
// repeat it where it cannot know whether it was stored. A key belongs to the subject of the
// client's tokens; without one it belongs to the token, and a repeat with another is stored again.
func WithKey(key string) PublishOption {
	return func(p *wire.Publish) { p.Key = []byte(key) }
}

// WithDelivery gives a publish another delivery, such as [OneNearest]. Only a [Broadcast]
// is stored.
func WithDelivery(d Delivery) PublishOption {
	return func(p *wire.Publish) { p.Delivery = wire.Delivery(d) }
}

// PublishConfirmed is Publish that returns when the edge has answered: the message is
// stored, at this position, or, with an empty position, this edge has accepted it and no
// history keeps its channel. It may be called often at the same time; the answers come in
// order for each channel.
//
// A publish with a key is repeated while its outcome is unknown: when the connection is lost before the answer comes,
// on the next one, and when the edge cannot say. From then on, whatever edges answer to its repeats, it ends with its
// position or with ErrOutcomeUnknown: it may be stored, and may still come. That is also the error after 100 s, at once
// without a key, and when ctx or the client ends meanwhile; then it is that of ctx, too, or ErrTimeout, for [errors.Is].
//
// ErrHistoryUnavailable says that it was not stored. ErrNoHistory is the error for a
// key on a channel that is not kept, and for any edge that confirms nothing. Others are
// those of Publish, and what an edge refuses it with, such as ErrPermissionDenied. All of these are certain.
func (c *Client) PublishConfirmed(ctx context.Context, tenant, channel string, payload []byte, opts ...PublishOption) (position string, err error) {
	p, err := newPublish(Broadcast, tenant, channel, payload)
	if err != nil {
		return "", err
	}
	for _, opt := range opts {
		opt(&p)
	}
	switch {
	case p.Delivery > wire.OneRandom:
		return "", badOption("the delivery %d is unknown: Broadcast, OneNearest and OneRandom are allowed", p.Delivery)
	case p.Key != nil && (len(p.Key) < 1 || len(p.Key) > wire.MaxKey):
		return "", badOption("a key of %d bytes: 1 to 64 are allowed; hash what is longer", len(p.Key))
	case p.Key != nil && p.Delivery != wire.Broadcast:
		return "", badOption("a message to one subscriber is not stored, so it has no key: leave out WithKey, or WithDelivery")
	}
	p.Confirm, p.ID = true, c.publishID.Add(1)
	w := confirmWait{client: c, p: p, timer: time.NewTimer(confirmTimeout)}
	defer w.timer.Stop()
	return w.run(ctx)
}

// confirmWait is a publish until its outcome is known.
type confirmWait struct {
	client *Client
	p      wire.Publish
	timer  *time.Timer // ends it
	// unknown: an attempt may have been stored. A later one that is refused says nothing of that.
	unknown bool
	tries   int
}

func (w *confirmWait) run(ctx context.Context) (position string, err error) {
	for {
		conn, answer, wait, err := w.client.gate.confirm(w.p)
		if answer == nil {
			if err != nil && (w.p.Key == nil || wait == nil) {
				return "", w.failed(err)
			}
			if err := w.wait(ctx, wait, err); err != nil {
				return "", err
			}
			continue
		}
		w.tries++
		select {
		case a := <-answer:
			if a.code == "" && !a.lost {
				return a.position, nil
			}
			if err := w.refused(a); err != nil {
				return "", err
			}
			if err := w.pause(ctx, a); err != nil {
				return "", err
			}
		case <-ctx.Done():
			conn.confirms.forget(w.p.ID)
			w.unknown = true
			return "", w.failed(ended(ctx, "the edge did not confirm the message in time"))
		case <-w.timer.C:
			conn.confirms.forget(w.p.ID)
			w.unknown = true
			return "", w.failed(ErrTimeout)
		}
	}
}

// refused takes what an attempt has ended with. Without an error the publish is to be tried again.
func (w *confirmWait) refused(a confirmed) error {
	var err error = ErrDisconnected
	if !a.lost {
		err = &Error{Code: a.code, Text: why(toPublish, a.code, string(w.p.Tenant), string(w.p.Channel), a.denial), Tenant: string(w.p.Tenant), Channel: string(w.p.Channel)}
	}
	w.unknown = w.unknown || a.lost || errors.Is(err, ErrUnconfirmed)
	again := a.lost || errors.Is(err, ErrUnconfirmed) || errors.Is(err, ErrHistoryUnavailable) || errors.Is(err, ErrTryLater)
	if w.unknown && w.p.Key != nil && again {
		return nil
	}
	return w.failed(err)
}

// pause waits before the next try if an edge could not say what became of the last one: it
// may not be able to yet.
func (w *confirmWait) pause(ctx context.Context, a confirmed) error {
	if a.code == "" {
		return nil
	}
	over := make(chan struct{})
	timer := time.AfterFunc(max(w.client.s.MinBackOff, w.client.s.backOff(w.tries, 0)), func() { close(over) })
	defer timer.Stop()
	return w.wait(ctx, over, nil)
}

// wait waits for what the next try needs. why is the error while there is no connection.
func (w *confirmWait) wait(ctx context.Context, ready <-chan struct{}, why error) error {
	const late = "the message could not be sent in time"
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return w.failed(ended(ctx, late))
	case <-w.client.done:
		return w.failed(w.client.closedError())
	case <-w.timer.C:
		return w.failed(cmp.Or(why, error(&Error{Code: CodeTimeout, Text: late})))
	}
}

// failed is the error of a publish that is not tried any more. If its outcome is unknown, the reason is in the text
// alone, unless it says no more than that: an application that asks for another code would believe that it was not stored.
func (w *confirmWait) failed(why error) error {
	if !w.unknown {
		return why
	}
	e := &Error{Code: CodeOutcomeUnknown, Text: "no edge has said whether the message is stored", Tenant: string(w.p.Tenant), Channel: string(w.p.Channel)}
	if errors.Is(why, ErrUnconfirmed) || errors.Is(why, context.Canceled) || errors.Is(why, context.DeadlineExceeded) {
		e.Err = why
	} else {
		e.Text += "; the last try ended with " + strings.TrimPrefix(why.Error(), "millrace: ")
	}
	return e
}

// confirmed is the outcome of a publish on one connection.
type confirmed struct {
	position string // empty: it is not kept
	code     Code   // of a refusal
	denial   wire.Denial
	lost     bool // the connection has ended before
}

func positionOf(l wire.ServerLine) string {
	if !l.Stored {
		return ""
	}
	return l.Position.String()
}

// confirms are the publishes of a connection that wait for their answers. Safe for
// concurrent use. Each is a call of the application, which is to bound them.
type confirms struct {
	mu      sync.Mutex
	waiting map[uint32]waitingPublish
	ended   bool
	none    func() // is called by the loop, once, when none waits; nil: nobody asks
}

type waitingPublish struct {
	size   int // of its frame, in bytes
	key    string
	answer chan<- confirmed
}

// add returns where the answer to a publish comes. It returns nil if the connection has ended.
func (w *confirms) add(p wire.Publish) <-chan confirmed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil
	}
	if w.waiting == nil {
		w.waiting = map[uint32]waitingPublish{}
	}
	answer := make(chan confirmed, 1)
	w.waiting[p.ID] = waitingPublish{wire.PublishLen(p), string(p.Key), answer}
	return answer
}

// key returns the key of a publish that waits; empty: it has none.
func (w *confirms) key(id uint32) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting[id].key
}

// any reports whether one waits.
func (w *confirms) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) > 0
}

// forget gives up an answer. Who waits for all of them goes on in time without it.
func (w *confirms) forget(id uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, id)
}

// answer takes an answer. The loop calls it.
func (w *confirms) answer(id uint32, a confirmed) {
	w.mu.Lock()
	answer := w.waiting[id].answer
	delete(w.waiting, id)
	var none func()
	if len(w.waiting) == 0 {
		none, w.none = w.none, nil
	}
	w.mu.Unlock()
	if answer != nil {
		answer <- a
	}
	if none != nil {
		none()
	}
}

// refuse refuses the publishes with frames of so many bytes, before fail.
func (w *confirms) refuse(size int, code Code) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, waiting := range w.waiting {
		if waiting.size == size {
			waiting.answer <- confirmed{code: code}
			delete(w.waiting, id)
		}
	}
}

// whenNone calls f when nothing waits any more, perhaps at once. The loop calls it.
func (w *confirms) whenNone(f func()) {
	w.mu.Lock()
	if len(w.waiting) > 0 {
		w.none, f = f, nil
	}
	w.mu.Unlock()
	if f != nil {
		f()
	}
}

// fail tells all that no answer comes.
func (w *confirms) fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiting := range w.waiting {
		waiting.answer <- confirmed{lost: true}
	}
	w.waiting, w.ended, w.none = nil, true, nil
}

package pubsub

import (
	"bytes"
	"errors"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// keptPublish is a publish to a kept channel, until it was handed on, or failed. Without a sequencer and with an outcome
// it is one that was refused, or not kept, and waits until earlier ones to its channel are answered.
type keptPublish struct {
	history.Message
	handing
	sequencer  *sequencer // nil: the store hands it on to all edges
	session    *Session
	id         uint32 // of version 3
	confirm    bool   // the client wants an answer
	windowSize int    // bytes that it counts for in the window
	byGuest    bool   // its tenant pays nothing for it

	channelHash uint64

	// guarded by the window's mutex
	unanswered     bool // it is in the window's list
	windowed       bool // it counts for the window
	waits          bool // an earlier one to its channel is unanswered
	decided        bool // it has an outcome
	handled        bool // it was handed on, or failed
	outcome        outcome
	previous, next *keptPublish // in the window's list
	nextOfChannel  *keptPublish // that is unanswered
}

// outcome is the answer to the publisher of a message.
type outcome struct {
	code     wire.Code     // why it was refused; empty: it was not
	position wire.Position // where it is stored; zero: its channel is not kept
	line     []byte        // of a code, if more is to be said than that; nil: not
}

func outcomeOf(r history.Result) outcome {
	if r.Err != nil {
		return outcome{code: codeOf(r.Err)}
	}
	return outcome{position: r.Position}
}

// publishKept stores a publish if a history keeps its channel, and reports whether it has
// dealt with it.
func (s *Session) publishKept(hs *histories, p wire.Publish) bool {
	var of *history.History
	if p.Delivery == wire.Broadcast {
		of = s.keeping(hs, p.Tenant, p.Channel)
	}
	switch {
	case of == nil && len(p.Key) > 0:
		s.rejectPublish(p, wire.CodeNoHistory)
		return true
	case of == nil:
		return false
	}
	size := len(p.Tenant) + len(p.Channel) + len(p.Payload) + len(p.Key) + len(s.token.sender) + itemOverhead
	if s.window == nil {
		s.window = newPublishWindow(s)
	}
	if !s.window.hasRoom(size) {
		s.chargeHandling(&s.handling) // and not the time that it waits
		if !s.window.awaitRoom(size) {
			return true
		}
	}
	used, since := s.beginHandling(&s.handling)
	pace, ok := s.hub.beginPaced(s.cachedPayers(p.Tenant), used, since, since, s.done) // since was just now
	if !ok {
		return true
	}
	defer pace.end()
	pace.work.most += mostPerByte * time.Duration(size)
	tenant := s.lastAccount.name
	var q *sequencer
	if hs.shared == nil {
		var err error
		if q, err = s.hub.acquireSequencer(hs, of, tenant); err != nil {
			s.rejectPublish(p, wire.CodeHistoryUnavailable)
			return true
		}
		q.owner.use(s.hub, tenant, s.token.issuerName)
	}
	s.hub.count.messagesIn.Add(1)
	s.hub.countTenant(s.hub.limits.Load(), p.Tenant, 1, 0)
	e := &keptPublish{sequencer: q, session: s, id: p.ID, confirm: p.Confirm, windowSize: size, byGuest: pace.payers.tenant == nil, channelHash: channelHash(p.Tenant, p.Channel)}
	data := append(append(append(make([]byte, 0, len(p.Channel)+len(p.Key)+len(p.Payload)), p.Channel...), p.Key...), p.Payload...)
	n, m := len(p.Channel), len(p.Channel)+len(p.Key)
	e.Message = history.Message{
		History: of.Name, Tenant: tenant,
		Channel: data[:n:n], Payload: data[m:], Sender: s.token.sender, Stored: e.stored, TokenID: s.identity.TokenID,
		Owner: s.keptTenant.owner,
	}
	if m > n {
		e.Key = data[n:m:m]
	}
	if hs.shared != nil && s.variant&withOwn != 0 {
		s.hub.ownMarks.add(e)
	}
	e.handing = handing{tenant: tenant, channel: e.Channel, payload: e.Payload, sender: e.Sender, at: pace.begun, publish: e}
	s.window.add(e)
	s.hub.wg.Add(1) // until it was handed on, or failed; the session's reader is counted too
	hs.store.Append(&e.Message)
	return true
}

// stored is called by the store, once.
func (e *keptPublish) stored(_ *history.Message, r history.Result) {
	h := e.session.hub
	h.ownMarks.settle(e, errors.Is(r.Err, history.ErrUnconfirmed))
	if r.Err == nil && !r.Repeated {
		h.count.stored.Add(1)
		e.position = r.Position
		e.session.window.answer(e, outcomeOf(r))
		if e.sequencer != nil {
			e.sequencer.push(&e.handing)
			return
		}
		e.done()
		return
	}
	if r.Repeated {
		h.count.repeated.Add(1)
	}
	e.session.window.answer(e, outcomeOf(r))
	e.done()
}

// done is called when the message has failed, or all subscribers have it in their queues.
func (e *keptPublish) done() {
	e.session.window.remove(e)
	if e.sequencer != nil {
		e.sequencer.release()
	}
	e.session.hub.wg.Done()
}

// codeOf returns the ERR code for a publish that was not stored.
func codeOf(err error) wire.Code {
	switch {
	case errors.Is(err, history.ErrUnconfirmed):
		return wire.CodeUnconfirmed
	case errors.Is(err, history.ErrKeysFull):
		return wire.CodeTryLater
	}
	return wire.CodeHistoryUnavailable
}

// rejectPublish answers a publish that is refused.
func (s *Session) rejectPublish(p wire.Publish, code wire.Code) {
	s.answerPublish(p, outcome{code: code})
}

// answerPublish answers a publish that does not go to a store, after earlier ones to its channel. The reader calls it.
func (s *Session) answerPublish(p wire.Publish, o outcome) {
	if s.window != nil {
		if hash := channelHash(p.Tenant, p.Channel); s.window.hasUnanswered(hash) {
			s.chargeHandling(&s.handling) // and not the time that it waits
			e := &keptPublish{
				Message: history.Message{Tenant: string(p.Tenant), Channel: bytes.Clone(p.Channel)},
				session: s, id: p.ID, confirm: p.Confirm, windowSize: len(p.Tenant) + len(p.Channel) + len(o.line) + itemOverhead,
				channelHash: hash, outcome: o, decided: true, handled: true,
			}
			if !s.window.awaitRoom(e.windowSize) || s.window.addAfter(e) {
				return
			}
		}
	}
	s.answerNow(o, p.Confirm, p.ID, string(p.Tenant), p.Channel)
}

// rejectNames answers a publish with an illegal name, which no answer repeats.
func (s *Session) rejectNames(p wire.Publish, code wire.Code) {
	if p.Confirm {
		s.rejectID(code, p.ID)
		return
	}
	s.reject(code)
}

// rejectID answers a publish that has an id.
func (s *Session) rejectID(code wire.Code, id uint32) {
	s.rejectWith(code, wire.AppendErrPub(nil, code, id))
}

// answerNow tells the client what became of a publish.
func (s *Session) answerNow(o outcome, confirm bool, id uint32, tenant string, channel []byte) {
	switch {
	case o.line != nil:
		s.rejectWith(o.code, o.line)
	case o.code != "" && confirm:
		s.rejectID(o.code, id)
	case o.code != "":
		s.reject(o.code, "PUB", tenant, string(channel))
	case !confirm:
	case o.position == wire.Position{}:
		s.QueueControl(Text, wire.AppendOKPub(nil, id))
	default:
		s.QueueControl(Text, wire.AppendOKPubAt(nil, id, o.position))
	}
}

package webtransport

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// Limits of a client's authentication (docs/protocol.md, WebTransport).
const (
	AuthTimeout = 5 * time.Second
	AuthBytes   = 4096
)

// Refusal says how a client is told that its AUTH line opened no session.
type Refusal struct {
	Line   []byte // the ERR line; nil: none
	Code   wire.CloseCode
	Reason string // of the close; if there is a line, the close repeats that instead, since it may overtake the line
}

func (r *Refusal) reason() string {
	if r.Line == nil {
		return r.Reason
	}
	return strings.TrimPrefix(string(r.Line), "ERR:")
}

var (
	unauthorized = &Refusal{
		Line: wire.AppendErr(nil, wire.CodeUnauthorized), Code: wire.CloseUnauthorized,
	}
	internalError = &Refusal{
		Line: wire.AppendErr(nil, wire.CodeInternal), Code: wire.CloseInternal,
	}
	draining = &Refusal{Code: wire.CloseGoingAway, Reason: "the edge stops"}
)

// ServePending serves a client that has yet to authenticate: its first message has to
// be AUTH:<token>, within [AuthTimeout] and [AuthBytes]. auth is called once at
// most, from a goroutine of the hub; missed is called instead, with the reason, where no such
// message came. ServePending returns at once, and takes over pending, which it releases.
func ServePending(hub *pubsub.Hub, pending *pubsub.PendingConn, conn Conn,
	auth func(ctx context.Context, token string) (Admission, *Refusal), missed func(reason string), log *zap.Logger) {
	p := &pendingConn{connection: &connection{Conn: conn, hub: hub, log: log}, pending: pending, auth: auth, missed: missed}
	hub.Go(p.run)
}

// pendingConn is a connection whose client has not authenticated yet.
type pendingConn struct {
	*connection
	pending *pubsub.PendingConn
	auth    func(ctx context.Context, token string) (Admission, *Refusal)
	missed  func(reason string)
}

func (p *pendingConn) run() {
	defer p.pending.Release()
	if refusal := p.authenticate(); refusal != nil {
		p.refuse(refusal)
		return
	}
	p.pending.Release()
	defer p.finish()
	defer p.recoverFault()
	p.session.QueueControl(pubsub.Text, []byte(wire.LineOKAuth))
	p.checksPeer.Store(p.allowPeer != nil)
	p.serve()
}

// authenticate reads the first message and admits the client, or says why not.
func (p *pendingConn) authenticate() (refusal *Refusal) {
	defer func() {
		if p.logFault(recover()) {
			refusal = internalError
		}
	}()
	ctx, cancel := context.WithTimeout(until{context.Background(), p.pending.Draining()}, AuthTimeout)
	defer cancel()
	late := func() *Refusal { // for a failure while waiting
		select {
		case <-p.pending.Draining():
			return draining
		default:
			p.missed("the client sent no AUTH line within " + AuthTimeout.String() + ", or left")
			return unauthorized
		}
	}
	p.goroutines.Go(p.acceptUniStreams)
	main, err := p.AcceptStream(ctx)
	if err != nil {
		return late()
	}
	p.open(main)
	p.watch()

	stop := context.AfterFunc(ctx, func() { _ = main.SetReadDeadline(time.Unix(1, 0)) })
	message, err := p.in.next(AuthBytes)
	p.kinds.Store(p.in.kinds)
	if !stop() || err != nil {
		return late()
	}
	line, err := wire.ParseLine(message)
	if err != nil || line.Verb != wire.VerbAuth {
		p.missed("the first message of the client is no AUTH line")
		return unauthorized
	}
	admission, refusal := p.auth(ctx, string(line.Token))
	if refusal != nil {
		return refusal
	}
	admission.Session.Charge(len(message))
	p.admit(admission)
	return nil
}

// refuse tells the client why, and closes its connection too, since it did not
// authenticate.
func (p *pendingConn) refuse(r *Refusal) {
	if p.main != nil {
		_ = p.main.SetWriteDeadline(time.Now().Add(maxLinger)) // fails only with the session
		if r.Line != nil {
			line := pubsub.Outgoing{Kind: pubsub.Text, Data: r.Line}
			_, _ = p.main.Write(appendOutgoing(nil, p.kinds.Load(), line)) // a client that cannot be told is closed all the same
		}
		_ = p.main.Close()
		_ = p.main.SetReadDeadline(time.Now().Add(p.linger()))
		if !p.in.discard() {
			p.wait(p.linger())
		}
	}
	p.closeSession(r.Code, r.reason(), answerTimeout)
	p.waitForGoroutines()
	// Chromium forgets the code if the connection ends right behind the session.
	wait(p.QUIC.Context(), maxLinger)
	p.CloseIfIdle()
}

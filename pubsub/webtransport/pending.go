package webtransport

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// What a client may take to authenticate (docs/protocol.md, WebTransport).
const (
	AuthTimeout = 5 * time.Second
	AuthBytes   = 4096
)

// Refusal is how a client is told that its AUTH line opened no session.
type Refusal struct {
	Line   []byte // the ERR line; nil: none
	Code   wire.CloseCode
	Reason string // of the close; if there is a line, that repeats it, since it may overtake the line
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
// be AUTH:<token>, within [AuthTime] and [AuthBytes]. auth is called once at
// most, from a goroutine of the hub. Await returns at once; the arrival is its
// own.
func ServePending(hub *pubsub.Hub, arrival *pubsub.PendingConn, conn Conn,
	auth func(ctx context.Context, token string) (Admission, *Refusal), log *zap.Logger) {
	w := &pendingConn{connection: &connection{Conn: conn, hub: hub, log: log}, pending: arrival, auth: auth}
	hub.Go(w.run)
}

// pendingConn is a connection whose client has not authenticated yet.
type pendingConn struct {
	*connection
	pending *pubsub.PendingConn
	auth    func(ctx context.Context, token string) (Admission, *Refusal)
}

func (w *pendingConn) run() {
	defer w.pending.Release()
	if refusal := w.authenticate(); refusal != nil {
		w.refuse(refusal)
		return
	}
	w.pending.Release()
	defer w.finish()
	defer w.recoverFault()
	w.session.QueueControl(pubsub.Text, []byte(wire.LineOKAuth))
	w.checksPeer.Store(w.allowPeer != nil)
	w.serve()
}

// authenticate reads the first message and admits the client, or says why not.
func (w *pendingConn) authenticate() (refusal *Refusal) {
	defer func() {
		if w.logFault(recover()) {
			refusal = internalError
		}
	}()
	ctx, cancel := context.WithTimeout(until{context.Background(), w.pending.Draining()}, AuthTimeout)
	defer cancel()
	late := func() *Refusal { // for what went wrong while we waited
		select {
		case <-w.pending.Draining():
			return draining
		default:
			return unauthorized
		}
	}
	w.goroutines.Go(w.acceptUniStreams)
	main, err := w.AcceptStream(ctx)
	if err != nil {
		return late()
	}
	w.open(main)
	watched.join(w.connection)

	stop := context.AfterFunc(ctx, func() { _ = main.SetReadDeadline(time.Unix(1, 0)) })
	message, err := w.in.next(AuthBytes)
	if !stop() || err != nil {
		return late()
	}
	line, err := wire.ParseLine(message)
	if err != nil || line.Verb != wire.VerbAuth {
		return unauthorized
	}
	admission, refusal := w.auth(ctx, string(line.Token))
	if refusal != nil {
		return refusal
	}
	admission.Session.Charge(len(message))
	w.admit(admission)
	return nil
}

// refuse tells the client why, and takes the connection from it: nobody knows
// who it is.
func (w *pendingConn) refuse(r *Refusal) {
	if w.main != nil {
		_ = w.main.SetWriteDeadline(time.Now().Add(maxLinger)) // fails only with the session
		if r.Line != nil {
			_, _ = w.main.Write(wire.AppendMessage(nil, r.Line)) // a client that cannot be told is closed all the same
		}
		_ = w.main.Close()
		_ = w.main.SetReadDeadline(time.Now().Add(w.linger()))
		if !w.in.discard() {
			w.wait(w.linger())
		}
	}
	w.closeSession(r.Code, r.reason(), answerTimeout)
	w.waitForGoroutines()
	// Chromium forgets the code if the connection ends right behind the session.
	wait(w.QUIC.Context(), maxLinger)
	w.CloseIfIdle()
}

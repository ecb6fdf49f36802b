package client

import (
	"context"
	"time"
)

// A link carries the messages of one connection. One goroutine calls receive,
// one calls send and finish; abort is for all.
type link interface {
	// receive returns the next message, which is good until the next call, and
	// whether it is a frame. The error is an *Error that says why the connection
	// has ended.
	receive() (message []byte, frame bool, err error)
	// send writes messages, each behind its length as wire.AppendMessage has it.
	// It may take long if the edge reads slowly, and fails if nothing goes out for
	// writeTimeout.
	send(messages []byte) error
	// finish says that no more comes, after all that was sent. The edge then ends
	// the connection, which receive notices.
	finish()
	// abort ends the connection at once; receive and send fail. It waits for
	// nothing.
	abort()
	// heard returns when the last byte came, from whatever layer that tells.
	heard() time.Time
	// unusual returns how long a silence is unusual for this connection, by the
	// rhythm of what came; zero: that is not known.
	unusual() time.Duration
	// setWaker gives what is to be called when there is something to send that did
	// not come through send: the answer to a WebSocket ping. send is then called,
	// perhaps with no messages.
	setWaker(func())
	// probe sends something that an edge answers which does not know the connection,
	// since it was started again: a PING is too short for that.
	probe()
}

// dialFunc opens a link to an edge. The error is an *Error, with the status if
// the edge refused.
type dialFunc func(ctx context.Context, origin string, t Transport, token string) (link, error)

// maxMessage is the longest message that is accepted: the highest max_payload of
// an edge, and the rest of a frame.
const maxMessage = 17 << 20

// writeTimeout is how long nothing at all may go out before the connection
// counts as lost; of a writeStep of bytes, so that a write that an ingress cap
// slows down is no failure.
const (
	writeTimeout = 60 * time.Second
	writeStep    = 16 << 10
)

type deadlineWriter interface {
	Write(b []byte) (int, error)
	SetWriteDeadline(t time.Time) error
}

// writeSteps writes b with a new deadline for each part of it.
func writeSteps(w deadlineWriter, b []byte) error {
	for len(b) > 0 {
		if err := w.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		n, err := w.Write(b[:min(len(b), writeStep)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// lost is the error for a connection that broke off.
func lost(err error) *Error {
	return &Error{Code: CodeDisconnected, Text: "the connection broke off", Err: err}
}

// closedBy is the error for a close code of the edge.
func closedBy(code int, reason string) *Error {
	return &Error{Code: CodeDisconnected, Text: printable(reason), Close: code}
}

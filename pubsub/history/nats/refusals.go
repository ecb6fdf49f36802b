package nats

import (
	"errors"
	"fmt"
	"slices"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/pubsub/history"
)

// What proves that a message is not stored, and never will be. Without a proof its outcome is unknown, and it
// fails with [history.ErrUnconfirmed].

// finalCodes are the error codes of a stream that prove it. They depend on the message, and on nothing that changes:
// each server refuses such a message before any server stores it. While the lead changes, two servers may take one
// message. What depends on the state of a server proves nothing then: the other one may store it. That leaves out
// among others 10002, 10023 and 10047 (no room on this server), 10077 (this replica failed to write), 10109 (sealed)
// and 10167 (too much at once). 10158 leaves it out, too: an earlier attempt with the same key is about to be stored.
var finalCodes = []jetstream.ErrorCode{
	10054, // the message is larger than max_msg_size of the stream
	10097, // its header is larger than 64 KiB
}

// noResponders is the status with which the NATS server of this edge says that it has given the message to nobody.
const noResponders = "503"

// neverSent are the errors with which the NATS client refuses a message before it writes any of it. After others,
// such as those of a broken connection, the server may have all of it.
var neverSent = []error{
	client.ErrConnectionClosed, client.ErrConnectionDraining, client.ErrReconnectBufExceeded, client.ErrMaxPayload,
	client.ErrHeadersNotSupported, client.ErrBadSubject,
}

// refusal is the result of a message that was answered with an error of its stream, or could not be sent.
func refusal(err error) history.Result {
	final := slices.ContainsFunc(finalCodes, func(code jetstream.ErrorCode) bool { return hasCode(err, code) }) ||
		slices.ContainsFunc(neverSent, func(e error) bool { return errors.Is(err, e) })
	if final {
		return history.Result{Err: fmt.Errorf("%w: %w", history.ErrUnavailable, err)}
	}
	return history.Result{Err: fmt.Errorf("%w: %w", history.ErrUnconfirmed, err)}
}

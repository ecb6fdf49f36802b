package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// incoming is what comes from a consumer, in order.
type incoming struct {
	messages jetstream.MessagesContext
	expected uint64 // the number that the consumer gives its next message
	headers  bool
	server   string      // that the consumer is on; empty: not known
	detach   func() bool // from the context that closes it
}

// received is a message of the stream.
type received struct {
	place
	subject string
	payload []byte
	size    int // of the payload, which may not have come
	key     string
	sender  []byte
	owner   string
	mark    uint64
	trim    string // the number of a trimNote
	invalid bool   // its sender is invalid
}

const (
	// consumerIdle is how long a consumer is kept that nobody asks.
	consumerIdle = 30 * time.Second
	// pullMessages is how many messages are under way at most.
	pullMessages = 2048
	// pullExpiry is how long a request for messages is valid.
	pullExpiry = 15 * time.Second
)

// heartbeat is how often a consumer says that it is there; two in a row may be missing. It is
// 1 s with the default call timeout, and less than half of pullExpiry with any.
func (s *Store) heartbeat() time.Duration {
	return min(max(s.callTimeout/5, time.Second), pullExpiry/2-time.Second)
}

// open makes a consumer that begins at a number, or at the first message behind it.
func (st *stream) open(ctx context.Context, from uint64, headers bool) (*incoming, error) {
	c, server, err := st.createConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
		AckPolicy: jetstream.AckNonePolicy, HeadersOnly: headers,
		InactiveThreshold: consumerIdle, Replicas: 1, MemoryStorage: true,
	})
	if err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	messages, err := c.Messages(jetstream.PullMaxMessages(pullMessages), jetstream.PullHeartbeat(st.store.heartbeat()), jetstream.PullExpiry(pullExpiry),
		jetstream.WithMessagesErrOnMissingHeartbeat(false)) // it asks again: watchProgress says when that is in vain
	if err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	in := &incoming{messages: messages, expected: 1, headers: headers, server: server}
	in.detach = context.AfterFunc(ctx, messages.Stop)
	return in, nil
}

// consumerTries is how many consumers are made to have one on a server that is not behind: NATS
// draws the server, and nobody can name one.
const consumerTries = 8

// createConsumer makes a consumer, and says on which server it is.
func (st *stream) createConsumer(ctx context.Context, config jetstream.ConsumerConfig) (jetstream.Consumer, string, error) {
	stream := st.store.names.stream(st.name)
	for try := 1; ; try++ {
		calling, done := context.WithTimeout(ctx, min(time.Duration(try)*st.store.heartbeat(), st.store.callTimeout))
		c, err := st.store.js.CreateConsumer(calling, stream, config)
		done()
		if errors.Is(err, context.DeadlineExceeded) && try < 3 { // what was sent while servers were cut off is lost
			continue
		}
		if err != nil {
			return nil, "", err
		}
		info, server := c.CachedInfo(), ""
		if info.Cluster != nil {
			server = info.Cluster.Leader
		}
		if !st.isShunned(server) || try == consumerTries {
			return c, server, nil
		}
		if err := st.store.call(ctx, "CONSUMER.DELETE."+stream+"."+info.Name, struct{}{}, &struct{}{}); err != nil {
			return nil, "", err
		}
	}
}

func (in *incoming) close() {
	in.detach()
	in.messages.Stop()
}

// errOrder is returned when a consumer leaves something out.
var errOrder = errors.New("the consumer has lost a message")

// next waits for the next message.
func (in *incoming) next() (*received, error) {
	m, err := in.messages.Next()
	if err != nil {
		return nil, err
	}
	meta, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	if meta.Sequence.Consumer != in.expected {
		return nil, errOrder
	}
	in.expected++
	r := &received{place: place{meta.Sequence.Stream, meta.Timestamp}, subject: m.Subject(), payload: m.Data(), size: len(m.Data())}
	if header := m.Headers(); header != nil {
		r.key = header.Get(jetstream.MsgIDHeader)
		r.sender, r.invalid = parseSender(header)
		r.owner = parseOwner(header)
		r.mark = parseMark(header)
		r.trim = header.Get(headerTrim)
		if in.headers {
			r.size = 0
			if _, err := fmt.Sscan(header.Get("Nats-Msg-Size"), &r.size); err != nil {
				return nil, fmt.Errorf("the size of message %d: %w", r.n, err)
			}
		}
	}
	return r, nil
}

package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/tokenstore"
)

// The bucket as a stream of JetStream, for what the methods of a bucket do not offer:
// the revision of a deletion, and reading from the leader, which orders the writes.
// Those methods may ask a replica, which may not know yet what was acknowledged.

// operationHeader is the header of a message that is a deletion, not a value.
const operationHeader = "KV-Operation"

// Error codes of JetStream that its client does not name.
const (
	codeAccountExceeded  jetstream.ErrorCode = 10002 // the account has no room for more
	codeNotAvailable     jetstream.ErrorCode = 10008 // JetStream, or the bucket, has no leader
	codeTooManyStreams   jetstream.ErrorCode = 10027 // the account may have no more streams
	codeMemoryExceeded   jetstream.ErrorCode = 10028 // account or server have no room in memory
	codeStorageExceeded  jetstream.ErrorCode = 10047 // account or server have no room on disk
	codeStoreFailed      jetstream.ErrorCode = 10077 // the reason is only in the description
	codeMaxBytesRequired jetstream.ErrorCode = 10113 // the account wants max_bytes for each stream
	codeStreamOffline    jetstream.ErrorCode = 10118 // all servers of the bucket are away
	codeMaxBytesTooLarge jetstream.ErrorCode = 10122 // the account allows less for a stream
)

// apiSubject returns the subject of a call of the JetStream API.
func (s *Store) apiSubject(call string) string {
	if s.config.Domain == "" {
		return "$JS.API." + call
	}
	return "$JS." + s.config.Domain + ".API." + call
}

func (s *Store) streamName() string { return "KV_" + s.config.Bucket }

// subjectPrefix is the common prefix of the subjects of all records.
func (s *Store) subjectPrefix() string { return "$KV." + s.config.Bucket + "." }

func (s *Store) subject(kind tokenstore.Kind, id string) string {
	return s.subjectPrefix() + keyOf(kind, id)
}

// message is a message of the bucket: a value or a deletion.
type message struct {
	subject  string
	revision uint64
	value    []byte
	deleted  bool
}

// lastMessage returns the last message of a subject; nil: there is none.
func (s *Store) lastMessage(ctx context.Context, subject string) (*message, error) {
	return s.getMessage(ctx, map[string]any{"last_by_subj": subject})
}

// nextMessage returns the first message from a revision on; nil: there is none.
func (s *Store) nextMessage(ctx context.Context, revision uint64) (*message, error) {
	ctx, done := context.WithTimeout(ctx, fetchTimeout)
	defer done()
	return s.getMessage(ctx, map[string]any{"seq": revision, "next_by_subj": s.subjectPrefix() + ">"})
}

// getMessage asks the leader for a message; nil: there is none.
func (s *Store) getMessage(ctx context.Context, which map[string]any) (*message, error) {
	request, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	var m *message
	err = s.answers.call(ctx, s.apiSubject("STREAM.MSG.GET."+s.streamName()), request, func(answer []byte) error {
		m, err = parseMessage(answer)
		return err
	})
	return m, err
}

// parseMessage reads the answer of STREAM.MSG.GET; nil: there is no such message.
func parseMessage(answer []byte) (*message, error) {
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject  string `json:"subject"`
			Sequence uint64 `json:"seq"`
			Header   []byte `json:"hdrs"`
			Data     []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, fmt.Errorf("JetStream's answer: %w", err)
	}
	switch {
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound, got.Error == nil && got.Message == nil:
		return nil, nil
	case got.Error != nil:
		return nil, asLeaderError(got.Error)
	}
	m := &message{subject: got.Message.Subject, revision: got.Message.Sequence, value: got.Message.Data}
	if len(got.Message.Header) > 0 {
		header, err := client.DecodeHeadersMsg(got.Message.Header)
		if err != nil {
			return nil, fmt.Errorf("JetStream's answer: %w", err)
		}
		m.deleted = header.Get(operationHeader) != ""
	}
	return m, nil
}

// awaitNewer returns the last message of a subject once it is newer than a revision. A
// write is refused as soon as another one is under way, a moment before that one can
// be read. If that one fails after all, awaitNewer returns what there is.
func (s *Store) awaitNewer(ctx context.Context, subject string, than uint64) (m *message, err error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Second); ; <-tick.C {
		m, err = s.lastMessage(ctx, subject)
		if err != nil || m != nil && m.revision > than || time.Now().After(end) {
			return m, err
		}
	}
}

// publish writes a message if the last revision of its subject is the expected one,
// and returns the revision of the message. A clustered server refuses while another
// message of the subject is under way, even the one that was just acknowledged; and
// for a moment no server answers where the bucket is new or its leader changes. In
// both cases nothing was written, so publish tries again.
func (s *Store) publish(ctx context.Context, m *client.Msg, expected uint64) (uint64, error) {
	if s.config.Domain != "" {
		m.Subject = s.apiSubject(m.Subject) // a leaf node does not pass the bare subject on
	}
	for end := time.Now().Add(2 * time.Second); ; {
		ack, err := s.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(expected))
		switch {
		case err == nil:
			s.room.noteWritten(s.log)
			return ack.Sequence, nil
		case isFull(err):
			s.room.noteFull(s.log, err)
			return 0, fmt.Errorf("%w: %w", tokenstore.ErrInsufficientStorage, err)
		case time.Now().After(end),
			!hasCode(err, jetstream.JSErrCodeStreamWrongLastSequenceConstant) && !errors.Is(err, jetstream.ErrNoStreamResponse):
			return 0, err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// isConflict reports whether a message was refused because the last revision of its
// subject is not the expected one.
func isConflict(err error) bool {
	return hasCode(err, jetstream.JSErrCodeStreamWrongLastSequence) ||
		hasCode(err, jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func hasCode(err error, code jetstream.ErrorCode) bool {
	var e *jetstream.APIError
	return errors.As(err, &e) && e.ErrorCode == code
}

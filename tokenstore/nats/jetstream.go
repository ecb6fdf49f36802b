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

// The bucket's form in JetStream, for what its own methods do not offer: the
// revision of a deletion, and reading from the server that orders the writes. A
// replica, which they ask, may not know yet what was acknowledged.

// operation is the header of what is no value: a deletion.
const operation = "KV-Operation"

// api returns the subject of a call of JetStream.
func (s *Store) api(call string) string {
	if s.config.Domain == "" {
		return "$JS.API." + call
	}
	return "$JS." + s.config.Domain + ".API." + call
}

func (s *Store) stream() string { return "KV_" + s.config.Bucket }

// subjects is what the subjects of all records begin with.
func (s *Store) subjects() string { return "$KV." + s.config.Bucket + "." }

func (s *Store) subject(kind tokenstore.Kind, id string) string {
	return s.subjects() + keyOf(kind, id)
}

// latest is the last message of a subject.
type latest struct {
	subject  string
	revision uint64
	value    []byte
	deleted  bool
}

// last returns the last message of a subject; nil: there is none.
func (s *Store) last(ctx context.Context, subject string) (*latest, error) {
	return s.message(ctx, map[string]any{"last_by_subj": subject})
}

// next returns the first message from a revision on; nil: there is none.
func (s *Store) next(ctx context.Context, revision uint64) (*latest, error) {
	ctx, done := context.WithTimeout(ctx, missingTime)
	defer done()
	return s.message(ctx, map[string]any{"seq": revision, "next_by_subj": s.subjects() + ">"})
}

// message asks the leader for a message; nil: there is none.
func (s *Store) message(ctx context.Context, which map[string]any) (*latest, error) {
	request, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	answer, err := s.conn.RequestWithContext(ctx, s.api("STREAM.MSG.GET."+s.stream()), request)
	if err != nil {
		return nil, err
	}
	return parseLatest(answer.Data)
}

// parseLatest reads the answer of STREAM.MSG.GET; nil: there is no such message.
func parseLatest(answer []byte) (*latest, error) {
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
		return nil, got.Error
	}
	m := &latest{subject: got.Message.Subject, revision: got.Message.Sequence, value: got.Message.Data}
	if len(got.Message.Header) > 0 {
		header, err := client.DecodeHeadersMsg(got.Message.Header)
		if err != nil {
			return nil, fmt.Errorf("JetStream's answer: %w", err)
		}
		m.deleted = header.Get(operation) != ""
	}
	return m, nil
}

// newer returns the last message of a subject once that is newer than a revision.
// A write is refused as soon as another one is under way, a moment before that
// one can be read. Should it fail after all, newer returns what there is.
func (s *Store) newer(ctx context.Context, subject string, than uint64) (m *latest, err error) {
	ctx, done := context.WithTimeout(ctx, time.Second)
	defer done()
	looked := false
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		next, err := s.last(ctx, subject)
		if ctx.Err() != nil && looked {
			return m, nil
		}
		looked = err == nil
		if m = next; err != nil || m != nil && m.revision > than {
			return m, err
		}
		<-tick.C
	}
}

// publish writes a message over a revision of its subject, and returns its own. A
// clustered server refuses while another message of the subject is under way, even
// the one that was just acknowledged; and nobody answers for a moment where the
// bucket is new or its leader changes. Then it is asked again: neither has written
// anything.
func (s *Store) publish(ctx context.Context, m *client.Msg, over uint64) (uint64, error) {
	if s.config.Domain != "" {
		m.Subject = s.api(m.Subject) // leaf nodes keep the bare one to themselves
	}
	for end := time.Now().Add(2 * time.Second); ; {
		ack, err := s.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(over))
		switch {
		case err == nil:
			return ack.Sequence, nil
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

// refused reports whether a message was not written because the revision is
// another one.
func refused(err error) bool {
	return hasCode(err, jetstream.JSErrCodeStreamWrongLastSequence) ||
		hasCode(err, jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func hasCode(err error, code jetstream.ErrorCode) bool {
	var e *jetstream.APIError
	return errors.As(err, &e) && e.ErrorCode == code
}

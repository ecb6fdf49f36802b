package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The calls of JetStream that have to be answered by the leader of a stream: a replica may
// not know yet what was acknowledged, and after a change of leader for some time.

// Error codes of JetStream that its client does not name.
const (
	codeMaxBytesRequired jetstream.ErrorCode = 10113
	codeMaxBytesTooLarge jetstream.ErrorCode = 10122
	codeStorageExceeded  jetstream.ErrorCode = 10047
	codeNoLeader         jetstream.ErrorCode = 10008
)

// defaultCallTimeout bounds a call.
const defaultCallTimeout = 5 * time.Second

// ErrNoLeader is in the error when a replica without a leader answered for itself.
var ErrNoLeader = errors.New("the stream has no leader")

// errGone is returned for a message that the stream does not have.
var errGone = errors.New("the message was removed")

// apiError is the error that an answer has, or nil.
type apiError struct {
	Error *jetstream.APIError `json:"error"`
}

// call calls the API of JetStream. request and answer are JSON.
func (s *Store) call(ctx context.Context, subject string, request, answer any) error {
	return s.callBy(s.request, ctx, subject, request, answer)
}

func (s *Store) callBy(
	by func(context.Context, string, []byte) (*client.Msg, error), ctx context.Context, subject string, request, answer any,
) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	got, err := by(ctx, "$JS.API."+subject, body)
	if err != nil {
		return err
	}
	var failed apiError
	if err := json.Unmarshal(got.Data, &failed); err != nil {
		return fmt.Errorf("JetStream's answer: %w", err)
	}
	if failed.Error != nil {
		return failed.Error
	}
	return json.Unmarshal(got.Data, answer)
}

// errNotConnected is returned at once where there is no connection.
var errNotConnected = errors.New("not connected to NATS")

// request sends a request, and waits for the answer.
func (s *Store) request(ctx context.Context, subject string, body []byte) (*client.Msg, error) {
	return s.requestMsg(ctx, &client.Msg{Subject: subject, Data: body})
}

func (s *Store) requestMsg(ctx context.Context, m *client.Msg) (*client.Msg, error) {
	if !s.conn.IsConnected() {
		return nil, errNotConnected
	}
	ctx, done := context.WithTimeout(ctx, s.callTimeout)
	defer done()
	return s.conn.RequestMsgWithContext(ctx, m)
}

// ask is request for what does no harm when it is done more than once. It asks again each second, since
// what was sent while servers were cut off is lost, and takes the leader's answer, if one comes: while a
// replica knows no leader, it says so for all, and faster.
func (s *Store) ask(ctx context.Context, subject string, body []byte) (*client.Msg, error) {
	if !s.conn.IsConnected() {
		return nil, errNotConnected
	}
	ctx, done := context.WithTimeout(ctx, s.callTimeout)
	defer done()
	inbox := s.conn.NewInbox()
	sub, err := s.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	var leaderless *client.Msg
	for ctx.Err() == nil {
		if err := s.conn.PublishRequest(subject, inbox, body); err != nil {
			return nil, err
		}
		next, cancel := context.WithTimeout(ctx, s.heartbeat())
		for next.Err() == nil {
			m, err := sub.NextMsgWithContext(next)
			switch {
			case err != nil && next.Err() == nil:
				cancel()
				return nil, err
			case err != nil:
			case status(m) == "503":
				cancel()
				return nil, client.ErrNoResponders
			case saysLeaderless(m.Data):
				leaderless = m
			default:
				cancel()
				return m, nil
			}
		}
		cancel()
		if leaderless != nil {
			return leaderless, nil
		}
	}
	return nil, ctx.Err()
}

// saysLeaderless reports whether an answer is that of a replica without a leader.
func saysLeaderless(answer []byte) bool {
	var failed apiError
	return json.Unmarshal(answer, &failed) == nil && failed.Error != nil && failed.Error.ErrorCode == codeNoLeader
}

func hasCode(err error, code jetstream.ErrorCode) bool {
	var e *jetstream.APIError
	return errors.As(err, &e) && e.ErrorCode == code
}

// streamInfo asks the leader for the state of a stream. Its error has the code
// JSErrCodeStreamNotFound if there is none.
func (s *Store) streamInfo(ctx context.Context, stream string) (info jetstream.StreamInfo, err error) {
	if err := s.callBy(s.ask, ctx, "STREAM.INFO."+stream, struct{}{}, &info); err != nil {
		if hasCode(err, codeNoLeader) {
			err = fmt.Errorf("%w: %w", ErrNoLeader, err)
		}
		return info, err
	}
	if info.Cluster != nil && info.Cluster.Leader == "" {
		return info, ErrNoLeader
	}
	return info, nil
}

// storedMessage is a message as STREAM.MSG.GET returns it.
type storedMessage struct {
	Subject  string    `json:"subject"`
	Sequence uint64    `json:"seq"`
	Data     []byte    `json:"data"`
	Time     time.Time `json:"time"`
}

// get asks the leader for a message: {"seq": n}, {"last_by_subj": subject}, or
// {"seq": n, "next_by_subj": subject} for the first from a number on. Its error is errGone
// if there is none.
func (s *Store) get(ctx context.Context, stream string, which map[string]any) (storedMessage, error) {
	var got struct {
		Message *storedMessage `json:"message"`
	}
	err := s.callBy(s.ask, ctx, "STREAM.MSG.GET."+stream, which, &got)
	switch {
	case hasCode(err, jetstream.JSErrCodeMessageNotFound), err == nil && got.Message == nil:
		return storedMessage{}, errGone
	case err != nil:
		return storedMessage{}, err
	}
	return *got.Message, nil
}

// getPayload returns the payload of a message, from any replica or, where that does not have
// it, from the leader. is reports whether what has the number is the message.
func (s *Store) getPayload(ctx context.Context, stream string, n uint64, is func(subject string, at time.Time) bool) ([]byte, error) {
	if payload, err := s.getDirect(ctx, stream, n, is); err == nil {
		return payload, nil
	}
	m, err := s.get(ctx, stream, map[string]any{"seq": n})
	if err == nil && !is(m.Subject, m.Time) {
		return nil, errGone
	}
	return m.Data, err
}

// getDirect is getPayload from any replica alone.
func (s *Store) getDirect(ctx context.Context, stream string, n uint64, is func(subject string, at time.Time) bool) ([]byte, error) {
	got, err := s.request(ctx, "$JS.API.DIRECT.GET."+stream, fmt.Appendf(nil, `{"seq":%d}`, n))
	if err != nil {
		return nil, err
	}
	if number, subject, at := direct(got); number != n || !is(subject, at) {
		return nil, errGone
	}
	return got.Data, nil
}

// direct returns which message a direct answer has; number 0: none.
func direct(m *client.Msg) (number uint64, subject string, at time.Time) {
	number, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return 0, "", at
	}
	if at, err = time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp")); err != nil {
		return 0, "", at
	}
	return number, m.Header.Get("Nats-Subject"), at
}

// published is what a stream answers to a message.
type published struct {
	apiError
	Sequence  uint64 `json:"seq"`
	Duplicate bool   `json:"duplicate"`
}

// publish stores a note in a stream, and returns its number.
func (s *Store) publish(ctx context.Context, subject string, body []byte) (uint64, error) {
	return s.publishMsg(ctx, &client.Msg{Subject: subject, Data: body})
}

func (s *Store) publishMsg(ctx context.Context, m *client.Msg) (uint64, error) {
	got, err := s.requestMsg(ctx, m)
	if err != nil {
		return 0, err
	}
	return numberOf(got)
}

// numberOf returns the number that a stream has given a message.
func numberOf(got *client.Msg) (uint64, error) {
	var ack published
	if err := json.Unmarshal(got.Data, &ack); err != nil {
		return 0, fmt.Errorf("JetStream's answer: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	if ack.Sequence == 0 {
		return 0, errors.New("JetStream's answer has no number")
	}
	return ack.Sequence, nil
}

// purge removes the messages of a subject before a number from a stream.
func (s *Store) purge(ctx context.Context, stream, filter string, before uint64) error {
	request := map[string]any{"seq": before}
	if filter != "" {
		request["filter"] = filter
	}
	return s.call(ctx, "STREAM.PURGE."+stream, request, &struct{}{})
}

// delete deletes a message, and with erase overwrites it on disk.
func (s *Store) delete(ctx context.Context, stream string, n uint64, erase bool) error {
	err := s.call(ctx, "STREAM.MSG.DELETE."+stream, map[string]any{"seq": n, "no_erase": !erase}, &struct{}{})
	switch {
	case hasCode(err, codeSequenceNotFound), hasCode(err, jetstream.JSErrCodeMessageNotFound):
		return nil
	case hasCode(err, codeDeleteFailed): // for whatever reason: a limit may have been faster
		if _, gone := s.get(ctx, stream, map[string]any{"seq": n}); errors.Is(gone, errGone) {
			return nil
		}
	}
	return err
}

// The codes where a message to be deleted is there no more, or could not be deleted.
const (
	codeSequenceNotFound jetstream.ErrorCode = 10043
	codeDeleteFailed     jetstream.ErrorCode = 10057
)

// isStatus reports whether a message is an answer of NATS itself, and which.
func status(m *client.Msg) string {
	if len(m.Data) > 0 || m.Header == nil {
		return ""
	}
	return m.Header.Get("Status")
}

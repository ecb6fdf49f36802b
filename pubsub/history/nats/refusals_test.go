package nats

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/outage"
	"github.com/millrace/millrace/pubsub/history"
)

// Whatever a stream answers: that a message is not stored is said only where that is certain.
func TestAnswersOfStreams(t *testing.T) {
	answer := func(code int) *client.Msg {
		return &client.Msg{Data: fmt.Appendf(nil, `{"error":{"code":503,"err_code":%d,"description":"x"},"stream":"p_history_h","seq":0}`, code)}
	}
	for name, c := range map[string]struct {
		answer *client.Msg
		want   error
	}{
		"no responders":         {&client.Msg{Header: client.Header{"Status": {"503"}}}, history.ErrUnavailable},
		"larger than it may be": {answer(10054), history.ErrUnavailable},
		"a header too large":    {answer(10097), history.ErrUnavailable},

		"another status":       {&client.Msg{Header: client.Header{"Status": {"429"}}}, history.ErrUnconfirmed},
		"nothing":              {&client.Msg{}, history.ErrUnconfirmed},
		"no JSON":              {&client.Msg{Data: []byte("{")}, history.ErrUnconfirmed},
		"no number":            {&client.Msg{Data: []byte(`{"stream":"p_history_h"}`)}, history.ErrUnconfirmed},
		"key in process":       {answer(10158), history.ErrUnconfirmed},
		"no leader":            {answer(10009), history.ErrUnconfirmed},
		"no room of account":   {answer(10002), history.ErrUnconfirmed},
		"no room of server":    {answer(10023), history.ErrUnconfirmed},
		"no room on disk":      {answer(10047), history.ErrUnconfirmed},
		"a replica failed":     {answer(10077), history.ErrUnconfirmed},
		"too many at once":     {answer(10167), history.ErrUnconfirmed},
		"sealed":               {answer(10109), history.ErrUnconfirmed},
		"a code of the future": {answer(19999), history.ErrUnconfirmed},
	} {
		st := newStream(&Store{faults: outage.New(zap.NewNop(), 0)}, "h")
		a := &acks{prefix: "i.", next: 1, first: 1, waiting: map[uint64]sent{}}
		var got history.Result
		_, reply := a.add(sent{st.out, &history.Message{Stored: func(_ *history.Message, r history.Result) { got = r }}, time.Now(), 1, 0})
		c.answer.Subject = reply
		a.handle(c.answer)
		if errors.Is(got.Err, history.ErrUnavailable) == errors.Is(got.Err, history.ErrUnconfirmed) || !errors.Is(got.Err, c.want) {
			t.Errorf("%s: got %v, want %v", name, got.Err, c.want)
		}
	}
	for err, want := range map[error]error{
		client.ErrReconnectBufExceeded: history.ErrUnavailable, client.ErrConnectionClosed: history.ErrUnavailable,
		client.ErrMaxPayload: history.ErrUnavailable, syscall.EPIPE: history.ErrUnconfirmed, client.ErrTimeout: history.ErrUnconfirmed,
	} {
		if got := refusal(err); !errors.Is(got.Err, want) {
			t.Errorf("%v at sending: got %v, want %v", err, got.Err, want)
		}
	}
}

// A message that is stored though its answer was lost is unconfirmed, and whoever repeats it with its key gets its
// position: at the same edge and at another one. One that a real stream refuses for its size is not stored.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	proxy := natstest.StartProxy(t, s)
	a, b := open(t, proxy.Connect(), impatient, withShortCalls), open(t, natstest.Connect(s))
	define(t, a, definition("h"))
	define(t, b, definition("h"))
	awaitPut(t, a, "before")
	follower := join(b)
	follow(t, b, "h")
	proxy.HoldReplies()
	if r := try(a, "h", "t", "c", "stored", "key"); !errors.Is(r.Err, history.ErrUnconfirmed) {
		t.Errorf("without an answer: %+v", r)
	}
	follower.await(t, "the message at another edge", func() bool {
		return len(follower.received) == 1 && string(follower.received[0].Payload) == "stored"
	})
	want := follower.received[0].Position
	proxy.Cut() // what was held is lost
	proxy.Resume()
	for name, edge := range map[string]*Store{"the same edge": a, "another edge": b} {
		var r history.Result
		await(t, "an answer of "+name, func() bool {
			r = try(edge, "h", "t", "c", "repeated", "key")
			return r.Err == nil
		})
		if !r.Repeated || r.Position != want {
			t.Errorf("%s: %+v, want %v", name, r, want)
		}
	}

	js := operator(t, s.ClientURL())
	stream, err := js.Stream(t.Context(), "p_history_h")
	must(t, err)
	config := stream.CachedInfo().Config
	config.MaxMsgSize = 1000
	must(t, errorOf(js.UpdateStream(t.Context(), config)))
	var refused *jetstream.APIError
	if r := try(b, "h", "t", "c", strings.Repeat("x", 2000)); !errors.Is(r.Err, history.ErrUnavailable) || !errors.As(r.Err, &refused) || refused.ErrorCode != finalCodes[0] {
		t.Errorf("too large: %+v", r)
	}
}

package nats

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// Each message is answered, whatever it waits for when the store is closed.
func TestCloseAnswersAll(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Connect(natstest.Server(t)))
	define(t, s, definition("h"))
	at := put(t, s, "h", "t", "c", "1")
	st := s.find("h")
	results := make(chan history.Result, 2)
	arrived := func(number uint64) arrival {
		m := &history.Message{History: "h", Tenant: "t", Channel: []byte("c"), Stored: func(_ *history.Message, r history.Result) { results <- r }}
		return arrival{sent{out: st.out, message: m, since: time.Now(), epoch: at.Epoch}, number, false}
	}
	st.stored.add(st, arrived(at.N+100)) // stored, and not received yet
	must(t, s.Close())
	st.stored.add(st, arrived(at.N+101)) // the answer came while the store was closed
	for range 2 {
		select {
		case r := <-results:
			if !errors.Is(r.Err, history.ErrUnconfirmed) {
				t.Errorf("%+v", r)
			}
		default:
			t.Error("a message was not answered")
		}
	}
}

// A history that goes out of reach while a message with a key is about to be sent.
func TestOutOfReachAtSending(t *testing.T) {
	t.Parallel()
	st := newStream(new(Store), "h")
	var got history.Result
	st.out.sent = 1
	st.out.send(&history.Message{History: "h", Tenant: "t", Channel: []byte("c"), Key: []byte("k"), Stored: func(_ *history.Message, r history.Result) { got = r }})
	if !errors.Is(got.Err, history.ErrUnavailable) {
		t.Errorf("%+v", got)
	}
}

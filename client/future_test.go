package client

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"
)

// futureCase is a message of a later edge, or a broken one.
type futureCase struct {
	Comment string
	To      string // the line that it answers; empty: none
	Input   struct{ Text, Hex *string }
	Expect  struct {
		GoesOn bool `json:"goes_on"`
		Event  struct{ Name, Code, Detail, Tenant, Channel string }
		Code   Code // with which the command that it answers fails
		Error  Code // with which the connection ends
	}
}

func futureCases(t *testing.T) (cases []futureCase) {
	data, err := os.ReadFile("../wire/testdata/future.json")
	must(t, err)
	must(t, json.Unmarshal(data, &cases))
	return cases
}

func (f *futureCase) message(t *testing.T) []byte {
	if f.Input.Text != nil {
		return []byte(*f.Input.Text)
	}
	b, err := hex.DecodeString(*f.Input.Hex)
	must(t, err)
	return b
}

// event is what the application hears about it; nil: nothing.
func (f *futureCase) event() Event {
	e := f.Expect.Event
	switch e.Name {
	case "edgeError":
		return EdgeError{Code: Code(e.Code), Detail: e.Detail}
	case "publishError":
		return refusedPublish(e.Tenant, e.Channel, Code(e.Code))
	}
	return nil
}

// A client goes on whatever a later edge sends, in whatever order, and what stands
// between comes; broken messages end the connection.
func TestFutureEdges(t *testing.T) {
	cases := futureCases(t)
	var kinds [3]int
	for range 20 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // not a secret
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			c, l := w.connected(edgeA)
			s := mustSubscribe(t, c, "c")
			event[Connected](w)
			for _, i := range rnd.Perm(len(cases)) {
				f := &cases[i]
				switch {
				case f.Expect.GoesOn:
					kinds[0]++
					l.in <- f.message(t)
					l.deliver("c", f.Comment, "c")
					if got := payloads(t, s, 1); got[0] != f.Comment {
						t.Fatalf("seed %d, %s: got %q", seed, f.Comment, got)
					}
					if want := f.event(); want != nil {
						equal[Event](t, "event", <-w.events, want)
					}
				case f.Expect.Code != "":
					kinds[1]++
					l.set(func(l *fakeLink) { l.answer[f.To] = *f.Input.Text })
					if _, err := c.Subscribe(t.Context(), "t", f.To[len("SUB:t:"):]); !errors.Is(err, &Error{Code: f.Expect.Code}) {
						t.Errorf("%s: got %v", f.Comment, err)
					}
				}
			}
			synctest.Wait()
			for len(w.events) > 0 {
				switch e := (<-w.events).(type) {
				case Disconnected, Reconnecting, Closed, Moving, Suspect, SubscriptionError, Gap:
					t.Errorf("seed %d: got %+v", seed, e)
				}
			}
		})
	}
	for _, f := range cases {
		if f.Expect.Error == "" {
			continue
		}
		kinds[2]++
		bubble(t, f.Comment, func(t *testing.T, w *world) {
			c, l := w.connected(edgeA)
			mustSubscribe(t, c, "c")
			l.in <- f.message(t)
			if got := event[Disconnected](w); !errors.Is(got.Err, &Error{Code: f.Expect.Error}) {
				t.Errorf("got %v", got.Err)
			}
			event[Reconnected](w)
		})
	}
	if slices.Min(kinds[:]) == 0 {
		t.Errorf("cases %v", kinds)
	}
}

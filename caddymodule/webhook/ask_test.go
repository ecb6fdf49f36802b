package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// backendFunc is a backend without a network: it answers with what it returns.
type backendFunc func(*http.Request) (string, error)

func (f backendFunc) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := f(req)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
}

// refuseAfter is a backend that refuses everything after a while.
func refuseAfter(d time.Duration) backendFunc {
	return func(req *http.Request) (string, error) {
		select {
		case <-time.After(d):
			return `{"allow":false}`, nil
		case <-req.Context().Done():
			return "", req.Context().Err()
		}
	}
}

// silenceAllows is a hook that lets clients in when its backend is silent.
func silenceAllows(t *testing.T, b backendFunc, change func(*Ask)) *Webhook {
	t.Helper()
	t.Setenv("TEST_WEBHOOK_SECRET", secret)
	h := &Webhook{URL: "https://backend.test", Secret: "{env.TEST_WEBHOOK_SECRET}", Ask: &Ask{
		Before: []string{"connect", "subscribe"}, OnSilence: "allow",
	}}
	if change != nil {
		change(h.Ask)
	}
	o, err := h.options()
	if err != nil {
		t.Fatal(err)
	}
	h.worker = newWorker(o, zap.NewNop())
	h.worker.backend.client.Transport = b
	return h
}

// ask asks n questions at once, about connections and subscriptions, each of the token that tokenOf says, and counts the answers: allowed,
// or the code of the refusal.
func ask(h *Webhook, n int, tokenOf func(i int) string) map[string]int {
	got, answers := map[string]int{}, make(chan string, n)
	for i := range n {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), hook.AskTimeout)
			defer cancel()
			c := client(uint64(i), tokenOf(i))
			var err error
			if i%4 < 2 {
				err = h.AuthorizeConnect(ctx, c)
			} else {
				err = h.AuthorizeSubscribe(ctx, c, hook.Subscription{Tenant: "t", Pattern: "a"})
			}
			var refusal *hook.Refusal
			switch {
			case err == nil:
				answers <- "allowed"
			case errors.As(err, &refusal):
				answers <- string(refusal.Code)
			default:
				answers <- err.Error()
			}
		}()
	}
	for range n {
		got[<-answers]++
	}
	return got
}

func notAskedTotal(t *testing.T) float64 {
	t.Helper()
	var m dto.Metric
	if err := answersTotal.WithLabelValues("not_asked").Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.Counter.GetValue()
}

// A question that was not sent is not the backend's silence: whoever fills the queue of questions
// gets nothing allowed, with one token or with two that take all slots.
func TestFullQueueIsNotSilence(t *testing.T) {
	for tokens, n := range map[int]int{1: 640, 2: 1280, 7: 1280} {
		t.Run(fmt.Sprint(tokens), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := silenceAllows(t, refuseAfter(300*time.Millisecond), nil)
				before := notAskedTotal(t)
				got := ask(h, n, func(i int) string { return fmt.Sprint(i % tokens) })
				refused, later := got[string(wire.CodePermissionDenied)], got[string(wire.CodeTryLater)]
				if later == 0 || refused == 0 || refused+later != n {
					t.Errorf("got %v, want only permission_denied and try_later, and both", got)
				}
				if counted := notAskedTotal(t) - before; counted != float64(later) {
					t.Errorf("%v are counted as not asked, want %d", counted, later)
				}
			})
		})
	}
}

// The backend has its whole timeout, however long the question waited before.
func TestWaitingTakesNoTimeOfTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = 1900 * time.Millisecond
		h := silenceAllows(t, refuseAfter(late), func(a *Ask) { a.MaxInFlight = 2 })
		if got := ask(h, 2, func(int) string { return "x" }); got[string(wire.CodePermissionDenied)] != 2 {
			t.Errorf("got %v, want 2 × permission_denied", got)
		}
		// Other hooks have left too little time: nobody knows what the backend would have said.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := h.AuthorizeConnect(ctx, client(1, "x")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with too little time: %v", err)
		}
	})
}

// A token that asks once does not wait behind all that others ask.
func TestTokensTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := silenceAllows(t, refuseAfter(300*time.Millisecond), func(a *Ask) { a.MaxInFlight = 4 })
		go ask(h, 400, func(i int) string { return fmt.Sprint(i % 2) })
		synctest.Wait()
		begin := time.Now()
		if got := ask(h, 1, func(int) string { return "other" }); got[string(wire.CodePermissionDenied)] != 1 {
			t.Errorf("got %v, want it refused", got)
		}
		if waited := time.Since(begin); waited > 600*time.Millisecond {
			t.Errorf("it waited for %v, want its turn after one answer", waited)
		}
		time.Sleep(2 * hook.AskTimeout)
	})
}

// What fails at the edge itself is no silence either: clients can take all its file descriptors.
func TestExhaustedEdgeIsNotSilence(t *testing.T) {
	for text, failure := range map[string]error{
		"dial":   &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)},
		"lookup": &net.DNSError{Err: "dial udp: socket: " + syscall.EMFILE.Error(), Name: "backend.test", IsTemporary: true},
		"port":   &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)},
	} {
		t.Run(text, func(t *testing.T) {
			h := silenceAllows(t, func(*http.Request) (string, error) { return "", failure }, func(a *Ask) { a.Timeout = caddy.Duration(time.Second) })
			if got := ask(h, 1, func(int) string { return "x" }); got[string(wire.CodeTryLater)] != 1 {
				t.Errorf("got %v, want try_later", got)
			}
		})
	}
}

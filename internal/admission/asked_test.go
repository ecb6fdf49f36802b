package admission

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// hangsFor is a hook that does not answer about the clients of one token.
type hangsFor string

func (h hangsFor) AuthorizeConnect(ctx context.Context, c hook.Client) error {
	if c.TokenID == string(h) {
		<-ctx.Done()
	}
	return nil
}

// Handshakes that wait for a hook do not keep the clients of other tokens out.
func TestHandshakesThatHooksAreAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses(t, storetest.NewMemory())
		hub := pubsub.NewHub(memory.New(), pubsub.DefaultLimits(), zap.NewNop())
		defer hub.Close()
		greedy, id := g.issue()
		other, _ := g.issue()
		hub.SetHooks([]pubsub.NamedHook{{Name: "slow", Hook: hangsFor(id)}})
		edge := &Edge{Hub: hub, Tokens: g.service, Failures: g.FailureLimiter, Log: zap.NewNop()}
		open := func(token string, i int) (code string) {
			client := pubsub.Client{IP: netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}), Transport: tokenstore.ProtocolWebSocket}
			admitted, refused := Candidate{Edge: edge, Client: client, Secure: true}.Open(t.Context(), token)
			if refused != nil {
				return refused.Code
			}
			admitted.Session.Detach()
			return ""
		}
		var waiting sync.WaitGroup
		codes := make(chan string, 3*pubsub.MaxHandshakes)
		for i := range cap(codes) {
			waiting.Go(func() { codes <- open(greedy, i) })
		}
		synctest.Wait()
		begin := time.Now()
		if code := open(other, 1); code != "" || time.Since(begin) > 0 {
			t.Errorf("the other token got %q after %v", code, time.Since(begin))
		}
		// Those beyond the token's share of questions were told at once.
		if early := len(codes); early == 0 || early == cap(codes) {
			t.Errorf("%d of %d were answered at once", early, cap(codes))
		}
		waiting.Wait()
		for range cap(codes) {
			if code := <-codes; code != "try_later" {
				t.Fatalf("a client that no hook has allowed got %q", code)
			}
		}
		if code := open(other, 1); code != "" {
			t.Errorf("afterwards it got %q", code)
		}
	})
}

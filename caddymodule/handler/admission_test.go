package handler

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/internal/admission"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// A client that has gone before its turn is no refusal.
func TestGoneClientsCountNowhere(t *testing.T) {
	count := problem.Refusals().WithLabelValues("503", "unavailable")
	counted := func() float64 {
		var m dto.Metric
		if err := count.Write(&m); err != nil {
			t.Fatal(err)
		}
		return m.GetCounter().GetValue()
	}
	before := counted()
	attempt{w: httptest.NewRecorder()}.answer(admission.RefusedByHub(fmt.Errorf("waiting: %w", context.Canceled)))
	if got := counted() - before; got != 0 {
		t.Errorf("%v were counted", got)
	}
}

// A fault that every request meets is one line a second.
func TestFaultsAreLoggedOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		service, err := tokenstore.NewService(store, tokenstore.Config{})
		if err != nil {
			t.Fatal(err)
		}
		hub := pubsub.NewHub(memory.New(), pubsub.DefaultLimits(), zap.NewNop())
		defer hub.Close()
		store.Close()
		core, logs := observer.New(zap.InfoLevel)
		c := admission.Candidate{Edge: &admission.Edge{
			Hub: hub, Tokens: service, Failures: admission.NewFailureLimiter(), Log: guest.OncePerSecond(zap.New(core)),
		}}
		token := "AT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 3 {
			for range 100 {
				if _, refused := c.Open(t.Context(), token); refused.Code != "unavailable" {
					t.Fatalf("refused with %s", refused.Code)
				}
			}
			if _, refused := c.Open(gone, token); !refused.Gone() { // of a client that is gone nothing is said
				t.Fatalf("refused with %s", refused.Code)
			}
			time.Sleep(time.Second)
		}
		if n := logs.FilterMessage("handshake failed").Len(); n != 3 || logs.Len() != 3 {
			t.Errorf("%d lines in 3 seconds", logs.Len())
		}
	})
}

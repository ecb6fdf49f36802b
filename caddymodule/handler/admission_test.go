package handler

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/tokenstore"
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
	refusedByHub(fmt.Errorf("waiting: %w", context.Canceled)).write(httptest.NewRecorder())
	candidate{}.refuseToken(context.Canceled).wtRefusal()
	if got := counted() - before; got != 0 {
		t.Errorf("%v were counted", got)
	}
}

// A fault that every request meets is one line a second.
func TestFaultsAreLoggedOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		c := candidate{faults: guest.OncePerSecond(zap.New(core))}
		for range 3 {
			for range 100 {
				if refused := c.refuseToken(tokenstore.ErrUnavailable); refused.code != "unavailable" {
					t.Fatalf("refused with %s", refused.code)
				}
			}
			c.refuseToken(context.Canceled) // of a client that is gone nothing is said
			time.Sleep(time.Second)
		}
		if n := logs.FilterMessage("handshake failed").Len(); n != 3 || logs.Len() != 3 {
			t.Errorf("%d lines in 3 seconds", logs.Len())
		}
	})
}

package guest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		log := OncePerSecond(zap.New(core))
		want := func(what string, n int) {
			t.Helper()
			if got := len(logs.TakeAll()); got != n {
				t.Errorf("%s: %d lines, want %d", what, got, n)
			}
		}
		for i := range 3 {
			log.Error("no answer", zap.Error(errors.New(fmt.Sprint(i))))
			log.With(zap.Int("call", i)).Named("other").Error("no answer")
			log.Debug("no level")
		}
		want("one message", 1)
		log.Error("another")
		log.Warn("no answer")
		want("other messages", 2)
		time.Sleep(time.Second)
		log.Error("no answer")
		want("a second later", 1)
		for i := range 10 * maxLately {
			log.Error(fmt.Sprint(i))
		}
		want("distinct messages", 10*maxLately)
		if n := len(log.Core().(onceCore).lately.logged); n > maxLately {
			t.Errorf("%d messages are remembered, want at most %d", n, maxLately)
		}
	})
}

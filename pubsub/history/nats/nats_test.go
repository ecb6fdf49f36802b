package nats

import (
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/historytest"
)

func TestConformance(t *testing.T) {
	historytest.Run(t, func(t *testing.T) history.Store {
		t.Parallel()
		return open(t, natstest.Connect(natstest.Server(t)))
	})
}

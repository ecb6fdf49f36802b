package memory_test

import (
	"testing"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/brokertest"
	"github.com/millrace/millrace/pubsub/memory"
)

func TestBroker(t *testing.T) {
	brokertest.Run(t, func(t *testing.T, edges int) []pubsub.Broker {
		bus := new(memory.Bus)
		brokers := make([]pubsub.Broker, edges)
		for i := range brokers {
			brokers[i] = bus.New()
		}
		return brokers
	})
}

func TestClosedBrokerRefuses(t *testing.T) {
	b := memory.New()
	b.Join(nil)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Publish(pubsub.Message{Tenant: []byte("~"), Channel: []byte("a")}); err != memory.ErrClosed {
		t.Fatalf("Publish after Close = %v, want ErrClosed", err)
	}
}

package edgetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDelivery(t *testing.T) {
	for _, transport := range []client.Transport{client.WebSocket, client.WebTransport} {
		t.Run(string(transport), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				edge := edgetest.New(t)
				token := edge.Token(edgetest.Publish("orders.*"), edgetest.Subscribe("orders.*"))
				alice, bob := edge.Client(token, edgetest.Over(transport)), edge.Client(token, edgetest.Over(transport))
				sub, err := bob.Subscribe(t.Context(), edgetest.Tenant, "orders.*")
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := alice.Publish(t.Context(), edgetest.Tenant, "orders.new", []byte("one pizza")); err != nil {
						t.Fatal(err)
					}
					if m := <-sub.Messages(); string(m.Payload) != "one pizza" {
						t.Fatalf("got %q", m.Payload)
					}
					time.Sleep(10 * time.Minute)
				}
				t.Log(time.Since(start))
			})
		})
	}
}

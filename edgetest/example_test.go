package edgetest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
)

// In a program's own tests its name begins with Test.
func testOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edge := edgetest.New(t) // stops with the test
		token := edge.Token(edgetest.Publish("orders.*"), edgetest.Subscribe("orders.*"), edgetest.ExpiresIn(time.Hour))

		kitchen, shop := edge.Client(token), edge.Client(token)
		orders, err := kitchen.Subscribe(t.Context(), edgetest.Tenant, "orders.*")
		if err != nil {
			t.Fatal(err)
		}
		if err := shop.Publish(t.Context(), edgetest.Tenant, "orders.new", []byte("one pizza")); err != nil {
			t.Fatal(err)
		}
		if m := <-orders.Messages(); string(m.Payload) != "one pizza" {
			t.Errorf("the kitchen got %q", m.Payload)
		}

		time.Sleep(time.Hour) // of virtual time
		<-kitchen.Done()
		if err := kitchen.Err(); !errors.Is(err, client.ErrTokenExpired) {
			t.Errorf("the kitchen ended with %v", err)
		}
	})
}

func Example() {
	var t *testing.T // of the test
	testOrders(t)
}

package clienttest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/clienttest"
)

// In a program's own tests its name begins with Test.
func testOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // without it, the same in real time
		edge := clienttest.Start(t)
		shop := edge.Client(client.Grant{Publish: []string{"orders.*"}})
		kitchen := edge.Client(client.Grant{Subscribe: []string{"orders.*"}, History: []string{"orders.*"}})

		if _, err := shop.PublishConfirmed(t.Context(), clienttest.Tenant, "orders.7", []byte("one pizza")); err != nil {
			t.Fatal(err)
		}
		orders, err := kitchen.Subscribe(t.Context(), clienttest.Tenant, "orders.*", client.WithHistory(client.Last))
		if err != nil {
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

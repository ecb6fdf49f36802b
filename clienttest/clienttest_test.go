package clienttest_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/clienttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestExample(t *testing.T) { testOrders(t) }

// What an application may want of an edge: presence, work queues, a token that is revoked, in real time, too.
func TestEdge(t *testing.T) {
	begun := time.Now()
	edge := clienttest.Start(t)
	t.Logf("up in %v", time.Since(begun))
	token := edge.TokenOf("ada")
	ada, other := edge.Connect(token), edge.Client()
	if _, err := ada.Join(t.Context(), clienttest.Tenant, "room.1"); err != nil {
		t.Fatal(err)
	}
	p, err := other.Presence(t.Context(), clienttest.Tenant, "room.*")
	if err != nil {
		t.Fatal(err)
	}
	if members := p.Members(); len(members) != 1 || members[0].Subject != "ada" {
		t.Errorf("%+v are there", members)
	}
	jobs, err := ada.Subscribe(t.Context(), clienttest.Tenant, "jobs.*")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.PublishConfirmed(t.Context(), clienttest.Tenant, "jobs.a", nil, client.WithDelivery(client.OneRandom)); err != nil {
		t.Error(err)
	}
	<-jobs.Messages()
	if err := edge.Admin().Revoke(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	<-ada.Done()
}

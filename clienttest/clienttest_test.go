package clienttest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
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

// 100 stored messages of 1 KB come as soon as from the edge of dev, not in the 12 s of the bare default.
func TestBandwidth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edge := clienttest.Start(t)
		c := edge.Client()
		for i := range 100 {
			if _, err := c.PublishConfirmed(t.Context(), clienttest.Tenant, fmt.Sprintf("news.%d", i), make([]byte, 1<<10)); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		news, err := edge.Client().Subscribe(t.Context(), clienttest.Tenant, "news.*", client.WithHistory(client.Last))
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			<-news.Messages()
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("they came in %v", took)
		}
	})
}

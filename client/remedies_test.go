package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
)

// wantWords reports an error whose text lacks what a newcomer needs.
func wantWords(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, without %q", err, word)
		}
	}
}

func TestKeyOfAMessageToOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edge := edgetest.New(t)
		c := edge.Client(edge.Token(edgetest.Publish("#")))
		_, err := c.PublishConfirmed(t.Context(), edgetest.Tenant, "jobs.a", nil, client.WithKey("k"), client.WithDelivery(client.OneRandom))
		if !errors.Is(err, client.ErrBadOption) {
			t.Errorf("got %v", err)
		}
		wantWords(t, err, "WithKey", "WithDelivery")
	})
}

func TestEmptyTenantIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edge := edgetest.New(t)
		_, err := edge.Client(edge.Token(edgetest.Subscribe("#"))).Subscribe(t.Context(), "", "news.#")
		wantWords(t, err, "the token is for the tenant", "empty text", "name the tenant")
	})
}

// The address is repeated where no secret can be in it.
func TestBadAddressIsNamed(t *testing.T) {
	for address, word := range map[string]string{
		"localhost:8080": `"localhost:8080"`, " http://localhost:8080": "white space", "ada:s3cret@localhost": "an address has no scheme",
		"http://localhost:8080/\nAT_s3cret": "an address has white space",
	} {
		_, err := client.Connect(t.Context(), []string{address}, client.Options{Token: "AT_a"})
		wantWords(t, err, word)
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error has a secret: %v", err)
		}
	}
	_, err := client.Connect(t.Context(), []string{"http://localhost:8080"}, client.Options{Token: "<token>"})
	wantWords(t, err, "placeholder")
}

func TestAdminAtAServerThatIsNoEdge(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode("hello") }))
	defer server.Close()
	admin, err := client.NewTokenAdmin(server.URL, "MT_a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = admin.Issue(t.Context(), client.IssueRequest{CreatedBy: "a", ExpiresIn: time.Minute, Grants: []client.Grant{{Tenants: []string{"a"}}}})
	wantWords(t, err, server.URL, "Millrace edge")
}

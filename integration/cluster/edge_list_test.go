package cluster

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A list of edges that stands in the Caddyfile needs no broker.
func TestListedEdges(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.Replace(harness.DefaultCaddyfile, "\trespond \"no such page\" 404\n",
		"\tpubsub_edges /near {\n\t\tedge eu.example.com EU\n\t\tedge us.example.com:8443 US\n\t\tedge plain.example.com\n\t}\n\trespond \"no such page\" 404\n", 1))
	answer := e.Do(harness.Call{Method: "GET", URL: e.HttpURL("/near")})
	const want = `{"edges":[{"host":"eu.example.com","region":"EU"},{"host":"us.example.com:8443","region":"US"},{"host":"plain.example.com"}]}`
	if answer.Status != http.StatusOK || string(answer.Body) != want {
		t.Errorf("got %d %s", answer.Status, answer.Body)
	}
	for name, value := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Cache-Control": "no-store", "Content-Type": "application/json",
	} {
		if got := answer.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	if head := e.Do(harness.Call{Method: "HEAD", URL: e.HttpURL("/near")}); head.Status != http.StatusOK || len(head.Body) > 0 {
		t.Errorf("HEAD: %d %s", head.Status, head.Body)
	}
	if options := e.Do(harness.Call{Method: "OPTIONS", URL: e.HttpURL("/near")}); options.Status != http.StatusNoContent {
		t.Errorf("OPTIONS: %d", options.Status)
	}
	e.Do(harness.Call{Method: "POST", URL: e.HttpURL("/near")}).Problem(t, http.StatusMethodNotAllowed, "method_not_allowed")
	if other := e.Do(harness.Call{Method: "GET", URL: e.HttpURL("/edges")}); other.Status != http.StatusNotFound {
		t.Errorf("the default path: %d", other.Status)
	}
}

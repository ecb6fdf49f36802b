package tokens

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The API's description is opt-in: the shorthand does not serve it.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	withDocs := strings.Replace(harness.DefaultCaddyfile, "\ttls internal\n\tpubsub\n", "\ttls internal\n\tpubsub\n\tpubsub_openapi\n", 1)
	e := harness.StartEdge(t, withDocs)
	for _, path := range []string{"/api-docs/openapi.json", "/swagger-ui", "/swagger-ui/"} {
		if got := e.Rest("GET", path, "", nil); got.Status != http.StatusNotFound {
			t.Errorf("without pubsub_openapi GET %s: got %d, want 404", path, got.Status)
		}
	}

	t.Run("document", func(t *testing.T) {
		var doc struct {
			OpenAPI string `json:"openapi"`
			Paths   map[string]map[string]struct {
				Responses map[string]any `json:"responses"`
			} `json:"paths"`
		}
		e := e.With(t)
		e.Do(harness.Call{Method: "GET", URL: e.HttpsURL("/api-docs/openapi.json")}).Decode(t, http.StatusOK, &doc)
		if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
			t.Errorf("got OpenAPI version %q, want 3.1", doc.OpenAPI)
		}
		for _, want := range []struct {
			path, method string
			statuses     []string
		}{
			{"/ping", "get", []string{"200"}},
			{"/v1/get-token", "post", []string{"200", "400", "401", "403"}},
			{"/v1/refresh-token", "put", []string{"200", "400", "401", "403", "404", "409"}},
			{"/v1/revoke-token", "delete", []string{"200", "400", "401", "403", "404"}},
			{"/v1/tokens", "get", []string{"200", "400", "401", "403"}},
		} {
			responses := doc.Paths[want.path][want.method].Responses
			for _, status := range want.statuses {
				if _, ok := responses[status]; !ok {
					t.Errorf("%s %s: no response %s", want.method, want.path, status)
				}
			}
		}
	})

	t.Run("page", func(t *testing.T) {
		e := e.With(t)
		base, err := url.Parse(e.HttpsURL("/swagger-ui"))
		if err != nil {
			t.Fatal(err)
		}
		page := e.Do(harness.Call{Method: "GET", URL: base.String()})
		if page.Status != http.StatusOK || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			t.Fatalf("got status %d, content type %q", page.Status, page.Header.Get("Content-Type"))
		}
		checkPolicy(t, page)
		assets := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(string(page.Body), -1)
		if len(assets) == 0 {
			t.Fatal("the page names no files")
		}
		for _, asset := range assets {
			from, err := base.Parse(asset[1])
			if err != nil || from.Host != base.Host {
				t.Errorf("the page loads %s from elsewhere (%v)", asset[1], err)
				continue
			}
			if got := e.Do(harness.Call{Method: "GET", URL: from.String()}); got.Status != http.StatusOK || len(got.Body) == 0 {
				t.Errorf("GET %s: got status %d, %d bytes", from, got.Status, len(got.Body))
			}
		}
	})
}

// checkPolicy checks that the page may load from its own origin only, and may
// run no script that stands in the page.
func checkPolicy(t *testing.T, a harness.Answer) {
	t.Helper()
	policy := make(map[string][]string)
	for directive := range strings.SplitSeq(a.Header.Get("Content-Security-Policy"), ";") {
		if words := strings.Fields(directive); len(words) > 0 {
			policy[words[0]] = words[1:]
		}
	}
	if got := policy["default-src"]; !slices.Equal(got, []string{"'none'"}) && !slices.Equal(got, []string{"'self'"}) {
		t.Errorf("got default-src %q, want 'none' or 'self'", got)
	}
	for name, sources := range policy {
		for _, source := range sources {
			script := name == "script-src" || name == "default-src"
			if strings.Contains(source, "*") || strings.Contains(source, "http") || script && strings.HasPrefix(source, "'unsafe") {
				t.Errorf("%s allows %s", name, source)
			}
		}
	}
}

package client

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// No error of a token endpoint has a token, or what a query may hide, or anything that a terminal obeys.
func TestTokenFrom(t *testing.T) {
	const query, secret = "?key=hidden", `{"token":"AT_secret"}`
	status, body, to := http.StatusOK, secret, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	ask := func(url string) (AccessToken, error) { return TokenFrom(url + "/token" + query)(t.Context()) }
	for _, status = range []int{http.StatusOK, http.StatusCreated} {
		if token, err := ask(server.URL); err != nil || token.Token != "AT_secret" {
			t.Errorf("%d: got %+v, %v", status, token, err)
		}
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, c := range map[string]struct {
		url, body, to string
		status        int
	}{
		"a refusal":         {server.URL, "no \x1b[31mdatabase\u009b", "", 500},
		"nobody":            {url: gone.URL},
		"nobody, elsewhere": {server.URL, "", gone.URL + query, 307},
		"too much":          {server.URL, strings.Repeat(" ", maxTokenAnswer) + secret, "", 200},
	} {
		status, body, to = c.status, c.body, c.to
		_, err := ask(c.url)
		if text := fmt.Sprint(err); err == nil || strings.Contains(text, "hidden") || strings.Contains(text, "AT_") || text != printable(text) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestWriteProblem(t *testing.T) {
	for _, test := range []struct {
		name string
		in   Problem
		want string
	}{
		{"defaults", Problem{Status: 409, Detail: "the access token has expired", Code: "token_expired"},
			`{"type":"about:blank","title":"Conflict","status":409,"detail":"the access token has expired","code":"token_expired"}`},
		{"all given", Problem{Type: "t", Title: "T", Status: 400, Detail: "d", Code: "c"},
			`{"type":"t","title":"T","status":400,"detail":"d","code":"c"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			WriteProblem(rec, test.in)
			if rec.Code != test.in.Status || rec.Body.String() != test.want {
				t.Errorf("got %d %s\nwant %d %s", rec.Code, rec.Body, test.in.Status, test.want)
			}
			for name, want := range map[string]string{
				"Content-Type":           "application/problem+json",
				"Cache-Control":          "no-store",
				"X-Content-Type-Options": "nosniff",
			} {
				if got := rec.Header().Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

// Titles are the phrases of the statuses, so every status needs one.
func TestStatusesHavePhrases(t *testing.T) {
	if len(Status) == 0 {
		t.Fatal("no codes")
	}
	for code, status := range Status {
		if status < 400 || http.StatusText(status) == "" {
			t.Errorf("%s has status %d", code, status)
		}
	}
}

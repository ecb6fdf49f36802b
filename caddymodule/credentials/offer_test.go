package credentials

import (
	"net/http/httptest"
	"testing"
)

func TestOfferedToken(t *testing.T) {
	for _, c := range []struct {
		name        string
		entries     string // of the subprotocol list
		headers     []string
		subprotocol bool
		token       string
		given       bool
		wrong       bool
	}{
		{"nothing", "", nil, true, "", false, false},
		{"header", "", []string{"Bearer AT_1"}, false, "AT_1", true, false},
		{"header, written oddly", "", []string{"bearer  AT_1 "}, false, "AT_1", true, false},
		{"header without token", "", []string{"Bearer"}, true, "", true, false},
		{"another scheme", "", []string{"Basic x"}, true, "", false, false},
		{"two headers", "", []string{"Bearer AT_1", "Bearer AT_1"}, true, "", false, true},
		{"two headers of another scheme", "", []string{"Basic x", "Basic x"}, true, "", false, true},
		{"entry", `"at.AT_1"`, nil, true, "AT_1", true, false},
		{"entry without token", `"at."`, nil, true, "", true, false},
		{"entry without subprotocol", `"at.AT_1"`, nil, false, "", false, true},
		{"two entries", `"at.AT_1", "at.AT_1"`, nil, true, "", false, true},
		{"both", `"at.AT_1"`, []string{"Bearer AT_2"}, true, "AT_2", true, false},
		{"entry and another scheme", `"at.AT_1"`, []string{"Basic x"}, true, "AT_1", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/wt", nil)
			r.Header["Wt-Available-Protocols"] = []string{c.entries}
			r.Header["Authorization"] = c.headers
			r, _ = new(Inspection).TakeTokens(r)
			token, given, wrong := Offered(r, "WT-Available-Protocols", c.subprotocol)
			if token != c.token || given != c.given || (wrong != "") != c.wrong {
				t.Errorf("got %q, %v, %q", token, given, wrong)
			}
		})
	}
}

package operate

import (
	"net/http"
	"slices"
	"testing"

	"github.com/millrace/millrace/caddymodule/app"
)

// Each call that concerns tokens is a counted operation, and each counted operation is a
// call here, or one of the admin API alone.
func TestOperations(t *testing.T) {
	named := map[string]bool{"backup": true, "restore": true}
	for pattern, call := range Calls {
		other := slices.Contains([]string{"POST /explain", "GET /overview", "GET /edges", "GET /connections", "GET /refused", "GET /connections/{edge}/{connection}", "GET /histories", "GET /presences", "GET /presences/members"}, pattern)
		if (call.Operation == "") != other {
			t.Errorf("%s is the operation %q", pattern, call.Operation)
		}
		if !slices.Contains([]string{"POST /edges/{edge}/drain", "DELETE /edges/{edge}/drain", "POST /connections/disconnect", "POST /histories/read", "POST /histories/purge", "POST /members/{member}/remove"}, pattern) { // hooks are told; metrics count tokens alone
			named[call.Operation] = true
		}
	}
	for _, name := range app.TokenOperations {
		if !named[name] {
			t.Errorf("no call is the operation %s", name)
		}
	}
	for name := range named {
		if name != "" && !slices.Contains(app.TokenOperations, name) {
			t.Errorf("the operation %s does not start at zero", name)
		}
	}
}

// An empty string is an error, not an absent value: a caller with an unset variable would
// otherwise purge more, or get another token.
func TestLostValues(t *testing.T) {
	for _, test := range []struct {
		call func(*app.Running, *http.Request, []byte) (any, error)
		body string
		at   string
	}{
		{purgeHistory, `{"history":"h","tenant":"a","channel":""}`, "channel"},
		{purgeHistory, `{"history":"h","tenant":"","all":true}`, "tenant"},
		{disconnect, `{"id":1,"edge":""}`, "edge"},
		{disconnect, `{"id":1,"edge":"a","token_id":""}`, "token_id"},
		{explain, `{"token":"","token_id":"x","action":"publish"}`, "token"},
		{explain, `{"token_id":"x","action":"publish","tenant":""}`, "tenant"},
		{explain, `{"token_id":"x","action":"connect","ip":""}`, "ip"},
	} {
		_, err := test.call(nil, nil, []byte(test.body))
		if want := test.at + ": is empty; omit it instead"; err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", test.body, err, want)
		}
	}
}

package operate

import (
	"slices"
	"testing"

	"github.com/millrace/millrace/caddymodule/app"
)

// Each call that concerns tokens is a counted operation, and each counted operation is a
// call here, or one of the admin API alone.
func TestOperations(t *testing.T) {
	named := map[string]bool{"backup": true, "restore": true}
	for pattern, call := range Calls {
		other := slices.Contains([]string{"POST /explain", "GET /overview", "GET /edges", "GET /connections", "GET /connections/{edge}/{connection}", "GET /histories", "GET /presences", "GET /presences/members"}, pattern)
		if (call.Operation == "") != other {
			t.Errorf("%s is the operation %q", pattern, call.Operation)
		}
		if !slices.Contains([]string{"POST /edges/{edge}/drain", "POST /connections/disconnect", "POST /histories/read", "POST /histories/purge"}, pattern) { // hooks are told; metrics count tokens alone
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

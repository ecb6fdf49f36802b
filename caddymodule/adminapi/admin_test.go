package adminapi

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/millrace/millrace/caddymodule/app"
)

func TestLocalListener(t *testing.T) {
	tcp := func(s string) net.Addr {
		addr, err := net.ResolveTCPAddr("tcp", s)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	for _, c := range []struct {
		name         string
		local        net.Addr
		remote, host string
		want         bool
	}{
		{"usual", tcp("127.0.0.1:2019"), "127.0.0.1:1", "localhost:2019", true},
		{"by address", tcp("127.0.0.1:2019"), "127.0.0.1:1", "127.0.0.1:2019", true},
		{"IPv6", tcp("[::1]:2019"), "[::1]:1", "[::1]:2019", true},
		{"IPv6 without port", tcp("[::1]:2019"), "[::1]:1", "[::1]", true},
		{"Unix socket", &net.UnixAddr{Name: "/run/admin.sock", Net: "unix"}, "@", "", true},
		{"another listener", tcp("192.0.2.1:2019"), "192.0.2.9:1", "localhost:2019", false},
		{"from elsewhere", tcp("127.0.0.1:2019"), "192.0.2.9:1", "localhost:2019", false},
		{"a web page whose name leads to loopback", tcp("127.0.0.1:2019"), "127.0.0.1:1", "evil.example:2019", false},
		{"not known", nil, "127.0.0.1:1", "localhost", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/pubsub/connections", nil)
		r.RemoteAddr, r.Host = c.remote, c.host
		if c.local != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.local))
		}
		if got := onLocalListener(r); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Each call of the admin API is a counted operation on tokens, or is known not to be one;
// and each operation has a call.
func TestAdminOperations(t *testing.T) {
	named := map[string]bool{}
	other := []string{"POST /pubsub/explain", "GET /pubsub/connections", "POST /pubsub/drain"}
	calls := slices.Collect(maps.Keys(calls))
	for _, pattern := range append(calls, "GET /pubsub/backup", "POST /pubsub/restore") {
		if (operations[pattern] == "") != slices.Contains(other, pattern) {
			t.Errorf("%s is the operation %q", pattern, operations[pattern])
		}
		if name := operations[pattern]; name != "" {
			named[name] = true
		}
	}
	for _, name := range app.TokenOperations {
		if !named[name] {
			t.Errorf("no call is the operation %s", name)
		}
		delete(named, name)
	}
	if len(named) > 0 {
		t.Errorf("operations that do not start at zero: %v", named)
	}
}

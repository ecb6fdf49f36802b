package adminapi

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
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

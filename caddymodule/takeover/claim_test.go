package takeover

import (
	"encoding/json"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"go.uber.org/zap"
)

func TestClaimable(t *testing.T) {
	tls := caddytls.ConnectionPolicies{new(caddytls.ConnectionPolicy)}
	for _, c := range []struct {
		name string
		srv  *caddyhttp.Server
		app  *caddyhttp.App
		want string // the addresses, or the start of the reason
	}{
		{"usual", &caddyhttp.Server{Listen: []string{":443"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "udp/:443"},
		{"every network", &caddyhttp.Server{Listen: []string{"tcp4/127.0.0.1:8443", "tcp6/[::1]:8443"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "udp4/127.0.0.1:8443 udp6/[::1]:8443"},
		{"port range", &caddyhttp.Server{Listen: []string{":8443-8445"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "udp/:8443 udp/:8444 udp/:8445"},
		{"HTTP port in a range", &caddyhttp.Server{Listen: []string{":80-82"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "udp/:81 udp/:82"},
		{"other HTTP port", &caddyhttp.Server{Listen: []string{":80-82"}, TLSConnPolicies: tls}, &caddyhttp.App{HTTPPort: 81}, "udp/:80 udp/:82"},
		{"h3 among others", &caddyhttp.Server{Listen: []string{":443"}, Protocols: []string{"h1", "h3"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "udp/:443"},
		{"on one address", &caddyhttp.Server{
			Listen: []string{":443", ":444"}, Protocols: []string{"h1", "h2"}, ListenProtocols: [][]string{nil, {"", "h3"}}, TLSConnPolicies: tls,
		}, &caddyhttp.App{}, "udp/:444"},
		{"beside a Unix socket", &caddyhttp.Server{Listen: []string{"unix//run/edge.sock", ":443"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "udp/:443"},
		{"a placeholder", &caddyhttp.Server{Listen: []string{":{env.TAKEOVER_TEST_PORT}"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "udp/:8443"},

		{"no TLS", &caddyhttp.Server{Listen: []string{":443"}}, &caddyhttp.App{}, "error: it has no TLS"},
		{"no h3", &caddyhttp.Server{Listen: []string{":443"}, Protocols: []string{"h1", "h2"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "error: h3 is not among"},
		{"no h3 on any address", &caddyhttp.Server{Listen: []string{":443"}, ListenProtocols: [][]string{{"h1"}}, TLSConnPolicies: tls}, &caddyhttp.App{}, "error: h3 is not among"},
		{"Unix sockets", &caddyhttp.Server{Listen: []string{"unix//run/edge.sock"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "error: it listens only on Unix sockets"},
		{"HTTP port", &caddyhttp.Server{Listen: []string{":80"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "error: it listens only on the HTTP port 80"},
		{"any port", &caddyhttp.Server{Listen: []string{":443", ":0"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "error: it listens on :0"},
		{"a socket from outside", &caddyhttp.Server{Listen: []string{":443", "fd/3"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "error: it listens on fd/3"},
		{"packet conn wrappers", &caddyhttp.Server{
			Listen: []string{":443"}, PacketConnWrappersRaw: []json.RawMessage{[]byte(`{}`)}, TLSConnPolicies: tls,
		}, &caddyhttp.App{}, "error: it has packet_conn_wrappers"},
		{"h3 alone, before Caddy looked at it", &caddyhttp.Server{Listen: []string{":443"}, Protocols: []string{"h3"}, TLSConnPolicies: tls}, &caddyhttp.App{}, "error: h3 is its only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TAKEOVER_TEST_PORT", "8443")
			addresses, err := claimableAddresses(c.srv, c.app)
			var got []string
			for _, a := range addresses {
				got = append(got, a.String())
			}
			if err != nil {
				got = []string{"error:", err.Error()}
			}
			if text := strings.Join(got, " "); text != c.want && (err == nil || !strings.HasPrefix(text, c.want)) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestClaimTakesH3(t *testing.T) {
	srv := &caddyhttp.Server{
		Listen:          []string{":443", ":444", ":445"},
		Protocols:       []string{"h1", "h3"},
		ListenProtocols: [][]string{nil, {"h2", "h3"}, {"h1", "h2"}},
		TLSConnPolicies: caddytls.ConnectionPolicies{new(caddytls.ConnectionPolicy)},
	}
	given := srv.Protocols
	taken := New(nil, nil, zap.NewNop())
	for range 2 { // as the second handler of a server does
		must(t, taken.claim(srv, new(caddyhttp.App)))
	}
	if len(taken.claims) != 1 || len(taken.claims[0].addresses) != 2 {
		t.Errorf("%d claims, the first of %v", len(taken.claims), taken.claims[0].addresses)
	}
	if !slices.Equal(srv.Protocols, []string{"h1"}) || !reflect.DeepEqual(srv.ListenProtocols, [][]string{nil, {"h2"}, {"h1", "h2"}}) {
		t.Errorf("left %v and %v", srv.Protocols, srv.ListenProtocols)
	}
	if !slices.Equal(given, []string{"h1", "h3"}) {
		t.Errorf("a list that others share was changed to %v", given)
	}
}

// claimer is a handler that claims its server.
type claimer struct{}

func init() { caddy.RegisterModule(claimer{}) }

// claimed is what claimers did in the test that runs.
var claimed struct {
	takeover *Takeover
	app      *caddyhttp.App
	reasons  map[string]error
}

func (claimer) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.takeover_claimer", New: func() caddy.Module { return new(claimer) }}
}

func (claimer) Provision(ctx caddy.Context) error {
	claimed.app = httpApp(ctx)
	claimed.reasons[ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server).Name()] = claimed.takeover.Claim(ctx)
	return nil
}

func (claimer) ServeHTTP(http.ResponseWriter, *http.Request, caddyhttp.Handler) error { return nil }

// Where TLS ends at 1.2, which QUIC clients cannot use, neither this package nor Caddy serves HTTP/3.
func TestClaimTLS12(t *testing.T) {
	for allowed, policies := range map[bool]caddytls.ConnectionPolicies{
		false: {{ProtocolMax: "tls1.2"}, {ProtocolMax: "tls1.2"}},
		true:  {{ProtocolMax: "tls1.2"}, {ProtocolMin: "tls1.2"}},
	} {
		srv := &caddyhttp.Server{Listen: []string{":443"}, TLSConnPolicies: policies}
		taken := New(nil, nil, zap.NewNop())
		err := taken.claim(srv, new(caddyhttp.App))
		if (err == nil) != allowed || (len(taken.claims) == 1) != allowed || slices.Contains(srv.Protocols, "h3") {
			t.Errorf("%v: claimed %d, left %v, %v", allowed, len(taken.claims), srv.Protocols, err)
		}
	}
}

// TestClaimWhileProvisioned claims as handlers do. Caddy takes the servers in
// random order, so some are provisioned before the claim and some after it.
func TestClaimWhileProvisioned(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	const config = `{"admin":{"disabled":true},"logging":{"logs":{"default":{"level":"FATAL"}}},"apps":{"http":{"http_port":18080,"servers":{
		"own":     {"listen":["127.0.0.1:18443"],"automatic_https":{"disable":true},"tls_connection_policies":[{}],
		            "routes":[{"handle":[{"handler":"takeover_claimer"},{"handler":"takeover_claimer"}]}]},
		"other":   {"listen":["127.0.0.1:18444"],"automatic_https":{"disable":true},"tls_connection_policies":[{}]},
		"wrapped": {"listen":["127.0.0.1:18445"],"automatic_https":{"disable":true},"tls_connection_policies":[{}],
		            "packet_conn_wrappers":[{"wrapper":"takeover_wrapper"}],
		            "routes":[{"handle":[{"handler":"takeover_claimer"}]}]},
		"plain":   {"listen":["127.0.0.1:18080"],"automatic_https":{"disable":true},
		            "routes":[{"handle":[{"handler":"takeover_claimer"}]}]},
		"h1":      {"listen":["127.0.0.1:18446"],"protocols":["h1"],"automatic_https":{"disable":true},"tls_connection_policies":[{}]}
	}}}}`
	for range 8 {
		claimed.takeover, claimed.reasons = New(nil, nil, zap.NewNop()), map[string]error{}
		var parsed caddy.Config
		must(t, json.Unmarshal([]byte(config), &parsed))
		must(t, caddy.Validate(&parsed))
		var names []string
		for _, c := range claimed.takeover.claims {
			names = append(names, c.server.Name()+" "+c.addresses[0].String())
		}
		slices.Sort(names)
		if !slices.Equal(names, []string{"other udp/127.0.0.1:18444", "own udp/127.0.0.1:18443"}) {
			t.Errorf("claimed %q", names)
		}
		for name, want := range map[string]string{"own": "h1 h2", "other": "h1 h2", "wrapped": "h1 h2 h3", "plain": "h1 h2 h3", "h1": "h1"} {
			if got := strings.Join(claimed.app.Servers[name].Protocols, " "); got != want {
				t.Errorf("%s is left with %s, want %s", name, got, want)
			}
		}
		for name, want := range map[string]string{"own": "", "wrapped": "it has packet_conn_wrappers", "plain": "it has no TLS"} {
			got := ""
			if err := claimed.reasons[name]; err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

// wrapper is a packet conn wrapper that changes nothing.
type wrapper struct{}

func init() { caddy.RegisterModule(wrapper{}) }

func (wrapper) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.packetconns.takeover_wrapper", New: func() caddy.Module { return new(wrapper) }}
}

func (wrapper) WrapPacketConn(c net.PacketConn) net.PacketConn { return c }

// TestWrappersField fails when Caddy renames the private field that reports
// packet conn wrappers: a takeover would go around them.
func TestWrappersField(t *testing.T) {
	field, ok := reflect.TypeFor[caddyhttp.Server]().FieldByName(wrappersField)
	if !ok || field.Type != reflect.TypeFor[[]caddy.PacketConnWrapper]() {
		t.Errorf("caddyhttp.Server has no field %s of packet conn wrappers", wrappersField)
	}
}

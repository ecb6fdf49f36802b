package networks

import (
	"bytes"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/testcheck"
)

// proxiedKinds are the SDKs that go through forward proxies, with both transports allowed.
var proxiedKinds = []string{"go", "node", "python"}

// behindProxy is a lab whose clients reach nothing but a forward proxy, which alone knows the name of
// the edge.
func behindProxy(t *testing.T) (*lab, *harness.ForwardProxy) {
	l := oneEdge(t)
	machine := l.network.Machine(farMachine)
	testcheck.Must(t, machine.SetFile("hosts", l.near.IP+" "+edgeName+"\n"))
	proxy := harness.StartForwardProxy(t, machine.IP+":3128", machine.Command)
	l.treat(netlab.Treatment{Cut: true})
	return l, proxy
}

// Each SDK goes through the proxy that the environment names.
func TestForwardProxy(t *testing.T) {
	t.Parallel()
	l, proxy := behindProxy(t)
	for _, where := range proxiedKinds {
		t.Run(where, func(t *testing.T) {
			l := &lab{T: t, network: l.network, near: l.near, token: l.token}
			connect := l.connect(sdk.Kind{Where: where}, edgeName, sdk.Limit)
			connect.Options.Transports, connect.Options.KeepAlive, connect.Options.PongTimeout = nil, 0, 0
			kind := sdk.Kind{Where: where, Transport: "websocket"}
			t.Run("with a password", func(t *testing.T) {
				l := &lab{T: t, network: l.network, near: l.near, token: l.token}
				before := proxy.Tunnels()
				c := l.driver(kind, "HTTPS_PROXY="+proxy.URL(true), "NO_PROXY=other.test")
				c.Must(connect)
				if r := c.Event("connected"); r.Transport != "websocket" {
					t.Errorf("connected over %s", r.Transport)
				}
				sub := c.SubscribeAs("callback", tenant, channel, nil)
				c.Publish(tenant, channel, "through it")
				if r := sub.Next(); string(r.Payload) != "through it" {
					t.Errorf("got %q", r.Payload)
				}
				if n := proxy.Tunnels() - before; n != 1 {
					t.Errorf("the proxy was asked for %d connections, want 1", n)
				}
			})
			t.Run("without one", func(t *testing.T) {
				l := &lab{T: t, network: l.network, near: l.near, token: l.token}
				err := l.driver(kind, "HTTPS_PROXY="+proxy.URL(false)).Refused(connect, "unreachable")
				if !strings.Contains(err.Error(), proxy.Address) || !strings.Contains(err.Error(), "407") {
					t.Errorf("%v", err)
				}
			})
			t.Run("with a wrong one", func(t *testing.T) {
				l := &lab{T: t, network: l.network, near: l.near, token: l.token}
				err := l.driver(kind, "HTTPS_PROXY=http://edge:s3cret@"+proxy.Address).Refused(connect, "unreachable")
				if !strings.Contains(err.Error(), proxy.Address) || !strings.Contains(err.Error(), "password") || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%v", err)
				}
			})
			t.Run("without a proxy", func(t *testing.T) {
				l := &lab{T: t, network: l.network, near: l.near, token: l.token}
				before := proxy.Tunnels()
				direct := connect
				options := *connect.Options
				options.ConnectTimeout = 1000
				direct.Options = &options
				l.driver(kind, "HTTPS_PROXY="+proxy.URL(true), "NO_PROXY=.names.test").Refused(direct, "unreachable")
				if n := proxy.Tunnels() - before; n != 0 {
					t.Errorf("the proxy was asked for %d connections", n)
				}
			})
		})
	}
	if log := proxy.Out.String(); strings.Contains(log, l.token) {
		t.Error("the proxy has seen the token")
	}
}

// The commands go through one, too.
func TestForwardProxyOfCommands(t *testing.T) {
	t.Parallel()
	l, proxy := behindProxy(t)
	url := l.connect(sdk.Kind{}, edgeName, 0).Addresses[0]
	for _, row := range []struct{ variable, want, option string }{
		{"HTTPS_PROXY=" + proxy.URL(true), "", "--tenant=" + tenant},
		{"HTTPS_PROXY=", "the proxy " + proxy.Address + " asks for a user and a password (HTTP status 407)", "--proxy=" + proxy.Address},
		{"HTTPS_PROXY=" + proxy.URL(true), "unreachable", "--proxy=none"},
	} {
		out, err := l.network.Machine(clientMachine).Command("env", "MILLRACE_TOKEN="+l.token, row.variable, program("millrace"), "pubsub",
			"publish", "--url", url, "--ca", l.near.RootFile(), "--tenant", tenant, row.option, channel, "x").CombinedOutput()
		if (err == nil) != (row.want == "") || !bytes.Contains(out, []byte(row.want)) {
			t.Errorf("%s %s: %v, %s; want %s", row.variable, row.option, err, out, row.want)
		}
	}
}

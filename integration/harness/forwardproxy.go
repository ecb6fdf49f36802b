package harness

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ForwardProxy is a tinyproxy that runs until the test ends, and lets only who logs in through.
// Clients go through it by the URL that [ForwardProxy.URL] returns, as HTTPS_PROXY has it: that of
// the environment is for no address on loopback.
type ForwardProxy struct {
	Address string // host and port

	login *url.Userinfo
	*Background
}

// ForwardProxyPassword is that of the user edge; tinyproxy takes letters and digits alone.
const ForwardProxyPassword = "passw0rd"

// StartForwardProxy starts a proxy that listens at an address. command makes the process, as
// [exec.Command] does, perhaps in a network namespace, from which the proxy then opens
// connections, and where it looks names up. scripts/install-test-deps.sh installs the program.
func StartForwardProxy(t *testing.T, address string, command func(name string, args ...string) *exec.Cmd) *ForwardProxy {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	must(t, err)
	file := filepath.Join(t.TempDir(), "tinyproxy.conf")
	config := fmt.Sprintf("Port %s\nListen %s\nTimeout 600\nMaxClients 100\nLogLevel Connect\nBasicAuth edge %s\n", port, host, ForwardProxyPassword)
	must(t, os.WriteFile(file, []byte(config), 0o600))
	p := &ForwardProxy{address, url.UserPassword("edge", ForwardProxyPassword), StartBackground(t, command("tinyproxy", "-d", "-c", file))}
	must(t, p.poll(patience, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}))
	return p
}

// URL is that of the proxy, with a login or without.
func (p *ForwardProxy) URL(login bool) string {
	u := url.URL{Scheme: "http", Host: p.Address}
	if login {
		u.User = p.login
	}
	return u.String()
}

// Tunnels is how many connections were asked of the proxy, refused ones as well.
func (p *ForwardProxy) Tunnels() int { return strings.Count(p.Out.String(), ": CONNECT ") }

package operations

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// The configurations of docs/how-to/nginx.md for nginx, HAProxy and the edge behind them carry
// sessions, and a client cannot forge its address through them. What nginx does without them is
// refused with the remedy.
func TestReverseProxies(t *testing.T) {
	t.Parallel()
	blocks := blocksOf(t, "docs/how-to/nginx.md", "caddyfile", "nginx", "haproxy")
	e := harness.StartEdge(t, behind(blocks["caddyfile"]))
	token := e.Issue(harness.AllowAll("room")).Token
	direct := fmt.Sprintf("127.0.0.1:%d", e.HTTP)
	start := func(port int, config, program string, flags ...string) string { // returns the address
		dir := t.TempDir()
		config = strings.ReplaceAll(config, "127.0.0.1:8080", direct)
		e.Must(os.WriteFile(filepath.Join(dir, "config"), []byte(config+"\n"), 0o600))
		cmd := exec.Command("/usr/sbin/"+program, append(flags, "config")...)
		cmd.Dir = dir
		harness.StartBackground(t, cmd)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		e.AwaitAnswer("http://" + address + "/ping")
		return address
	}
	nginx := func(config string) string {
		port := loopback.FreePort(t)
		config = regexp.MustCompile(`(?m)^\s*ssl_.*\n`).ReplaceAllString(config, "")
		config = strings.Replace(config, "listen 443 ssl", fmt.Sprintf("listen 127.0.0.1:%d", port), 1)
		temporary := ""
		for _, module := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			temporary += module + "_temp_path " + module + ";\n"
		}
		return start(port, "daemon off; master_process off; pid pid; error_log stderr; events {}\nhttp { access_log off;\n"+temporary+config+"\n}", "nginx", "-e", "stderr", "-p", ".", "-c")
	}
	port := loopback.FreePort(t)
	haproxy := strings.Replace(blocks["haproxy"], "bind :443 ssl crt /etc/ssl/edge.pem", fmt.Sprintf("bind 127.0.0.1:%d", port), 1)
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}} // who is no trusted proxy
	dialer := websocket.Dialer{NetDialContext: from.DialContext}
	dial := func(address string) (*websocket.Conn, *http.Response, error) {
		return dialer.Dial("ws://"+address+"/ws", http.Header{"Authorization": {"Bearer " + token}, "X-Forwarded-For": {"203.0.113.9"}})
	}
	for name, address := range map[string]string{"nginx": nginx(blocks["nginx"]), "HAProxy": start(port, haproxy, "haproxy", "-f")} {
		conn, _, err := dial(address)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var list struct{ Connections []harness.Object }
		e.AdminCall("GET", "/pubsub/connections", nil).Decode(t, http.StatusOK, &list)
		if len(list.Connections) != 1 || list.Connections[0]["ip"] != "127.0.0.2" {
			t.Errorf("%s: the edge has %v", name, list.Connections)
		}
		e.Must(conn.Close())
		harness.AwaitConnections(e, 0)
	}
	bare := regexp.MustCompile(`(?m)^\s*proxy_(http_version|set_header|read_timeout).*\n`).ReplaceAllString(blocks["nginx"], "")
	_, answer, err := dial(nginx(bare))
	if answer == nil || answer.StatusCode != http.StatusUpgradeRequired {
		t.Fatalf("nginx without these lines: %v, %v", answer, err)
	}
	if body, err := io.ReadAll(answer.Body); !strings.Contains(string(body), "pass on Upgrade and Connection") {
		t.Errorf("nginx without these lines: %s, %v", body, err)
	}
}

// The Caddyfile of docs/how-to/cloudflare.md believes what its proxies say of a client's address, and nobody else.
func TestBehindCloudflare(t *testing.T) {
	t.Parallel()
	blocks := blocksOf(t, "docs/how-to/cloudflare.md", "caddyfile")
	ranges := regexp.MustCompile(`static .*`).FindString(blocks["caddyfile"])
	for _, r := range strings.Fields(ranges)[1:] {
		if _, err := netip.ParsePrefix(r); err != nil {
			t.Error(err)
		}
	}
	e := harness.StartEdge(t, behind(strings.Replace(blocks["caddyfile"], ranges, "static 127.0.0.2/32", 1)))
	token := e.Issue(harness.AllowAll("room")).Token
	for peer, want := range map[byte]string{2: "203.0.113.9", 3: "127.0.0.3"} {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, peer)}}
		conn, _, err := (&websocket.Dialer{NetDialContext: from.DialContext}).Dial(fmt.Sprintf("ws://127.0.0.1:%d/ws", e.HTTP),
			http.Header{"Authorization": {"Bearer " + token}, "X-Forwarded-For": {"203.0.113.9"}})
		e.Must(err)
		var list struct{ Connections []harness.Object }
		e.AdminCall("GET", "/pubsub/connections", nil).Decode(t, http.StatusOK, &list)
		if len(list.Connections) != 1 || list.Connections[0]["ip"] != want {
			t.Errorf("from 127.0.0.%d the edge has %v, want %s", peer, list.Connections, want)
		}
		e.Must(conn.Close())
		harness.AwaitConnections(e, 0)
	}
}

// blocksOf are the blocks of a page in these languages, one of each.
func blocksOf(t *testing.T, page string, languages ...string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	found, blocks := regexp.MustCompile("(?ms)^```(\\w*)[^\n]*\n(.*?)^```$").FindAllSubmatch(text, -1), map[string]string{}
	for _, m := range found {
		blocks[string(m[1])] = string(m[2])
	}
	if got := slices.Sorted(maps.Keys(blocks)); len(found) != len(blocks) || !slices.Equal(got, slices.Sorted(slices.Values(languages))) {
		t.Fatalf("%s has %d blocks, in the languages %q", page, len(found), got)
	}
	return blocks
}

// behind is the edge of the tests with the servers of a page's Caddyfile.
func behind(caddyfile string) string {
	_, servers, _ := strings.Cut(caddyfile, "{\n")
	servers, _, _ = strings.Cut(servers, "\tgrace_period")
	edge := strings.Replace(harness.DefaultCaddyfile, "{", "{\n"+servers, 1)
	return strings.Replace(edge, "http://localhost:{{.HTTP}} {", "http://:{{.HTTP}} {\n\tpubsub_ready", 1)
}

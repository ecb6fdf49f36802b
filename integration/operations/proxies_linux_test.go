package operations

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// The configurations of docs/configuration.md for nginx, HAProxy and the edge behind them carry
// sessions, and a client cannot forge its address through them. What nginx does without them is
// refused with the remedy.
func TestReverseProxies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string { // of the page
		found := regexp.MustCompile("(?s)```" + language + "\n(.*?)\n```").FindSubmatch(text[strings.Index(string(text), "## Behind a proxy"):])
		return string(found[1])
	}
	_, servers, _ := strings.Cut(block("caddyfile"), "{\n")
	servers, _, _ = strings.Cut(servers, "\tgrace_period")
	caddyfile := strings.Replace(harness.DefaultCaddyfile, "{", "{\n"+servers, 1)
	caddyfile = strings.Replace(caddyfile, "http://localhost:{{.HTTP}} {", "http://:{{.HTTP}} {\n\tpubsub_ready", 1)
	e := harness.StartEdge(t, caddyfile)
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
	haproxy := strings.Replace(block("haproxy"), "bind :443 ssl crt /etc/ssl/edge.pem", fmt.Sprintf("bind 127.0.0.1:%d", port), 1)
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}} // who is no trusted proxy
	dialer := websocket.Dialer{NetDialContext: from.DialContext}
	dial := func(address string) (*websocket.Conn, *http.Response, error) {
		return dialer.Dial("ws://"+address+"/ws", http.Header{"Authorization": {"Bearer " + token}, "X-Forwarded-For": {"203.0.113.9"}})
	}
	for name, address := range map[string]string{"nginx": nginx(block("nginx")), "HAProxy": start(port, haproxy, "haproxy", "-f")} {
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
	bare := regexp.MustCompile(`(?m)^\s*proxy_(http_version|set_header|read_timeout).*\n`).ReplaceAllString(block("nginx"), "")
	_, answer, err := dial(nginx(bare))
	if answer == nil || answer.StatusCode != http.StatusUpgradeRequired {
		t.Fatalf("nginx without these lines: %v, %v", answer, err)
	}
	if body, err := io.ReadAll(answer.Body); !strings.Contains(string(body), "pass on Upgrade and Connection") {
		t.Errorf("nginx without these lines: %s, %v", body, err)
	}
}

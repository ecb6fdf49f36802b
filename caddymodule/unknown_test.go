package caddymodule

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/internal/loopback"
)

// A server with our directives answers what it does not know with 404, or 421 for a host of no site,
// whatever the version of HTTP and while it drains, too; and what others' routes answer stays.
func TestUnknownRequests(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	sites, everyHost, sdk := loopback.FreePort(t), loopback.FreePort(t), loopback.FreePort(t)
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(fmt.Appendf(nil, `{
		admin off
		default_bind 127.0.0.1
	}
	http://edge.test:%[1]d {
		header Strict-Transport-Security max-age=1
		encode
		pubsub
		pubsub_ready
		handle /header {
			header X-Mine yes
		}
		handle /status {
			respond 204
		}
		handle /page {
			respond "a page"
		}
		handle /above/* {
			pubsub_ping /above/ping
		}
	}
	http://other.test:%[1]d {
		header /header X-Mine yes
		respond /page "a page"
	}
	http://:%[2]d {
		pubsub_ready
	}
	http://:%[3]d {
		pubsub_sdk
	}`, sites, everyHost, sdk), map[string]any{"filename": "Caddyfile"})
	must(t, err)
	must(t, caddy.Load(config, true))
	t.Cleanup(func() { noError(t, caddy.Stop()) })
	expect := func(port int, host, path string, status int, body string) {
		t.Helper()
		for _, version := range []string{"1.0", "1.1"} {
			if host == "" && version == "1.1" {
				continue // net/http refuses it
			}
			gotStatus, got := request(t, port, "GET", version, host, path)
			if gotStatus != status || !strings.Contains(got, body) || body == "" && got != "" {
				t.Errorf("HTTP/%s %s%s: %d %q, want %d %q", version, host, path, gotStatus, got, status, body)
			}
		}
	}
	for _, state := range []string{"up", "draining"} {
		ready, body := 200, "ready"
		if state == "draining" {
			ready, body = 503, `"draining"`
		}
		expect(sites, "edge.test", "/ready", ready, body)
		expect(sites, "edge.test", "/ping", 200, "pong")
		expect(sites, "edge.test", "/unknown", 404, `"not_found"`)
		expect(sites, "edge.test", "/above/unknown", 404, `"not_found"`)
		expect(sites, "edge.test", "/v1/unknown", 404, `"not_found"`)
		expect(sites, "edge.test", "/header", 200, "")
		expect(sites, "edge.test", "/status", 204, "")
		expect(sites, "edge.test", "/page", 200, "a page")
		expect(sites, "other.test", "/header", 200, "")
		expect(sites, "other.test", "/unknown", 200, "") // which is not one of our sites
		expect(sites, "other.test", "/page", 200, "a page")
		for _, host := range []string{"127.0.0.1", "third.test", ""} {
			expect(sites, host, "/ready", 421, `"misdirected_request"`)
			expect(everyHost, host, "/ready", ready, body)
			expect(everyHost, host, "/unknown", 404, `"not_found"`)
			expect(sdk, host, "/sdk/millrace.js", 200, "var millrace=(")
			expect(sdk, host, "/sdk/index.js", 404, `"not_found"`)
		}
		if status, _ := request(t, everyHost, "OPTIONS", "1.0", "", "/ready"); status != ready { // as HAProxy asks
			t.Errorf("OPTIONS /ready is answered %d, want %d", status, ready)
		}
		app.InForce().Running().Hub.Shutdown()
	}
}

// request sends one to a port of this machine, without a Host where that is empty.
func request(t *testing.T, port int, method, version, host, path string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	must(t, err)
	defer conn.Close()
	if host != "" {
		host = "Host: " + host + "\r\n"
	}
	_, err = fmt.Fprintf(conn, "%s %s HTTP/%s\r\n%sConnection: close\r\n\r\n", method, path, version, host)
	must(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	got, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(got)
}

// The Caddyfiles of the packages and the image, and the example of a public edge, answer health
// checks by any name or address, and bound their stop.
func TestPackagedCaddyfiles(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("MILLRACE_MASTER_TOKEN", "MT_"+strings.Repeat("0a", 16)+"_"+strings.Repeat("5e", 16))
	t.Cleanup(func() { noError(t, caddy.Stop()) })
	for _, file := range []string{"packaging/Caddyfile", "deploy/container/Caddyfile", "Caddyfile.example"} {
		text, err := os.ReadFile("../" + file)
		must(t, err)
		port := loopback.FreePort(t)
		own := strings.NewReplacer("admin unix//run/millrace/admin.sock", "", "8080", strconv.Itoa(port), ", https://localhost, https://127.0.0.1", "",
			"{$MILLRACE_HOST:localhost}", fmt.Sprintf("http://localhost:%d", loopback.FreePort(t)),
			"\nedge.example.com", fmt.Sprintf("\nhttp://edge.example.com:%d", loopback.FreePort(t)),
			"/var/lib/millrace/tokens", t.TempDir(), "/var/lib/millrace/histories", t.TempDir()).Replace(string(text))
		config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(strings.Replace(own, "{\n", "{\n\tadmin off\n", 1)), nil)
		must(t, err)
		must(t, caddy.Load(config, true))
		for _, host := range []string{"", "127.0.0.1", "edge.example.com", "localhost"} {
			if status, body := request(t, port, "GET", "1.0", host, "/ready"); status != 200 || !strings.HasPrefix(body, "ready") {
				t.Errorf("%s: %s/ready is answered %d %q", file, host, status, body)
			}
			if status, body := request(t, port, "GET", "1.0", host, "/unknown"); status != 404 || !strings.Contains(body, "not_found") {
				t.Errorf("%s: %s/unknown is answered %d %q", file, host, status, body)
			}
		}
		if !strings.Contains(string(config), `"grace_period"`) {
			t.Errorf("%s has no grace_period", file)
		}
	}
}

package command

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/loopback"
)

// edgeAt serves the admin API of an edge at a socket.
func edgeAt(t *testing.T, path, name string) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	edge := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"edges":[{"id":"a","name":%q,"state":"here","answered":true}]}`, name)
	}))
	_ = edge.Listener.Close()
	edge.Listener = listener
	edge.Start()
	t.Cleanup(edge.Close)
}

// Without --address, commands find the edge of this machine, and an error says where they have
// looked.
func TestFindsTheEdge(t *testing.T) {
	if os.Getenv("CADDY_ADMIN") != "" {
		t.Setenv("CADDY_ADMIN", "") // restores it
	}
	_ = os.Unsetenv("CADDY_ADMIN")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	wasFile, wasSocket, wasDefault := packagedCaddyfile, packagedSocket, defaultEndpoint
	t.Cleanup(func() { packagedCaddyfile, packagedSocket, defaultEndpoint = wasFile, wasSocket, wasDefault })
	defaultEndpoint = fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t)) // nobody listens there
	edgeAt(t, at("named.sock"), "named")
	edgeAt(t, at("default.sock"), "default")
	for i, tt := range []struct {
		caddyfile, socket, admin, address string
		want                              string // in what is printed
		code                              int
	}{
		{caddyfile: "# one\n{\n\tlog {\n\t\tadmin x\n\t}\n\tadmin unix/SOCKET|0220\n}\n", socket: "default.sock", want: "named"},
		{caddyfile: "{\n\temail a@example.com\n}\nhttp://localhost {\n\trespond admin\n}\n", socket: "default.sock", want: "default"},
		{caddyfile: "{\n\tadmin {$WHERE}\n}\n", socket: "default.sock", want: "default"},
		{caddyfile: "{\n\tadmin {\n\t\torigins x\n\t}\n}\n", socket: "default.sock", want: "default"},
		{socket: "default.sock", want: "default"},
		{socket: "default.sock", admin: "unix/SOCKET", want: "named"},
		{socket: "default.sock", admin: "unix//nonexistent", want: "no admin endpoint at /nonexistent", code: 1},
		{socket: "default.sock", address: "unix/SOCKET", want: "named"},
		{socket: "default.sock", admin: "nonsense", want: "$CADDY_ADMIN: must be one address", code: 2},
	} {
		fill := func(text string) string { return strings.ReplaceAll(text, "SOCKET", at("named.sock")) }
		packagedCaddyfile, packagedSocket = at(fmt.Sprint(i)), at(tt.socket)
		if tt.caddyfile != "" {
			if err := os.WriteFile(packagedCaddyfile, []byte(fill(tt.caddyfile)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_ = os.Unsetenv("CADDY_ADMIN")
		if tt.admin != "" {
			t.Setenv("CADDY_ADMIN", fill(tt.admin))
		}
		args := []string{"edges"}
		if tt.address != "" {
			args = append(args, "--address", fill(tt.address))
		}
		if got := run(t.Context(), "", args...); got.code != tt.code || !strings.Contains(got.out+got.err, tt.want) {
			t.Errorf("%+v: got %+v", tt, got)
		}
	}
	_ = os.Unsetenv("CADDY_ADMIN")
	for admin, want := range map[string]string{
		"off": "off (", "unix/" + at("gone.sock"): at("gone.sock") + " (" + packagedCaddyfile + "): no such file or directory",
	} {
		if err := os.WriteFile(packagedCaddyfile, []byte("{\n\tadmin "+admin+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := findEndpoint(t.Context(), "")
		if text := fmt.Sprint(err); !strings.Contains(text, want) || !strings.Contains(text, defaultEndpoint+" (Caddy's default)") || !strings.Contains(text, "--address or $CADDY_ADMIN") {
			t.Errorf("admin %s: %s", admin, text)
		}
	}
}

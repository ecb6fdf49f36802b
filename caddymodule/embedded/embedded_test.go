package embedded

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/millrace/millrace/caddymodule"
)

// load reads a Caddyfile with these lines in the block of `embedded`, and more
// after it, as `caddy validate` would.
func load(t *testing.T, lines, more string) error {
	t.Helper()
	text := "{\n\tskip_install_trust\n\tpubsub {\n\t\tbroker nats {\n\t\t\tembedded {\n" + lines + "\n\t\t\t}\n" + more +
		"\n\t\t}\n\t\ttoken_store nats\n\t}\n}\nhttp://localhost:8080 {\n\tpubsub\n}\n"
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err
	}
	var parsed caddy.Config
	if err := json.Unmarshal(config, &parsed); err != nil {
		return err
	}
	err = caddy.Validate(&parsed)
	if err == nil && strings.Contains(string(config), password) {
		t.Error("the configuration has the password")
	}
	return err
}

func TestOptions(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", home)
	t.Setenv("CLUSTER_PASSWORD", password)
	good, bad := filepath.Join(home, "good.conf"), filepath.Join(home, "bad.conf")
	open, closed := filepath.Join(home, "open.conf"), filepath.Join(home, "closed.conf")
	t.Setenv("EMPTY", "")
	authority := newAuthority(t)
	authority.issue("edge-1")
	clusterTLS := func(lines string) string {
		return "cluster edges {\nlisten 127.0.0.1:6222\nroutes nats://127.0.0.1:6223\ntls {\n" + lines + "\n}\n}"
	}
	for file, text := range map[string]string{
		good: "listen: 127.0.0.1:-1\n", bad: "listen: here and there\n",
		open:   "listen: 127.0.0.1:-1\ncluster { name: x, listen: \"0.0.0.0:6222\" }\n",
		closed: "listen: 127.0.0.1:-1\ncluster { name: x, listen: \"0.0.0.0:6222\", authorization { user: a, password: b } }\n",
	} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, test := range []struct{ lines, more, want string }{
		{"", "", ""},
		{"name n1\ndir " + home + "/nats\nmax_store 64MiB", "", ""},
		{"cluster edges {\nlisten 127.0.0.1:6222\nroutes nats://127.0.0.1:6223\nuser edge\npassword {env.CLUSTER_PASSWORD}\n}", "", ""},
		{"config " + good, "user edge\npassword {env.CLUSTER_PASSWORD}", ""},

		{"nam n1", "", "unknown option nam of embedded; allowed: name, dir, max_store, cluster, config"},
		{"name a/b", "", "name: must be 1 to 128 letters, digits, dots, _ and -"},
		{"max_store much", "", "max_store: must be a size in bytes, or with a unit like KiB or MB"},
		{"cluster", "", "wrong argument count"},
		{"cluster a/b {\nlisten 127.0.0.1:6222\n}", "", "cluster: the name must be 1 to 128"},
		{"cluster edges", "", "cluster.listen: must be host:port"},
		{"cluster edges {\nlisten 127.0.0.1:0\n}", "", "cluster.listen: must be host:port"},
		{"cluster edges {\nlisten 127.0.0.1\n}", "", "cluster.listen: must be host:port"},
		{"cluster edges {\nlisten 127.0.0.1:6222\nroutes nats://edge:" + password + "@127.0.0.1:6223\n}", "", "cluster.routes: number 1 must be a URL like nats://host:6222, without user and password"},
		{"cluster edges {\nlisten 127.0.0.1:6222\nroutes 127.0.0.1:6223\n}", "", "cluster.routes: number 1 must be"},
		{"cluster edges {\nlisten 127.0.0.1:6222\n}", "", "cluster.routes: needs the URL of another server"},
		{"cluster edges {\nlisten 127.0.0.1:6222\nuser edge\n}", "", "user and password belong together"},
		{"cluster edges {\nlisten 127.0.0.1:6222\nuser edge\npassword " + password + "\n}", "", "placeholder"},
		{"cluster edges {\nlisten 127.0.0.1:6222\nuser edge\npassword {env.NO_SUCH_VARIABLE}\n}", "", "NO_SUCH_VARIABLE"},
		{"cluster edges {\nlisten 127.0.0.1:6222\ntimeout 1s\n}", "", "unknown option timeout of cluster; allowed: listen, routes, user, password, tls"},
		{"cluster edges {\nlisten localhost:6222\nroutes nats://127.0.0.1:6223\n}", "", ""},
		{"cluster edges {\nlisten [::1]:6222\nroutes nats://127.0.0.1:6223\n}", "", ""},
		{"cluster edges {\nlisten 10.0.0.1:6222\nroutes nats://10.0.0.2:6222\nuser edge\npassword {env.CLUSTER_PASSWORD}\n}", "", ""},
		{"cluster edges {\nlisten 10.0.0.1:6222\nroutes nats://10.0.0.2:6222\n}", "", "cluster: needs user and password, since it listens at 10.0.0.1:6222"},
		{"cluster edges {\nlisten 0.0.0.0:6222\nroutes nats://127.0.0.1:6223\n}", "", "Only a loopback address like 127.0.0.1:6222 needs none"},
		{"cluster edges {\nlisten :6222\nroutes nats://127.0.0.1:6223\n}", "", "needs user and password, since it listens at :6222"},
		{"cluster edges {\nlisten edge-1.example.com:6222\nroutes nats://127.0.0.1:6223\n}", "", "needs user and password"},
		{"cluster edges {\nlisten 10.0.0.1:6222\nroutes nats://10.0.0.2:6222\nuser edge\npassword {env.EMPTY}\n}", "", "EMPTY"},
		{clusterTLS("ca " + authority.file + "\ncert " + authority.cert + "\nkey " + authority.key), "", ""},
		{clusterTLS("ca " + authority.file + "\ncert " + authority.cert), "", "cluster.tls: needs ca, cert and key"},
		{clusterTLS(""), "", "cluster.tls: needs ca, cert and key"},
		{clusterTLS("ca " + bad + "\ncert " + authority.cert + "\nkey " + authority.key), "", "has no certificate in PEM"},
		{clusterTLS("ca " + home + "/none\ncert " + authority.cert + "\nkey " + authority.key), "", "cluster.tls: ca: "},
		{clusterTLS("ca " + authority.file + "\ncert " + authority.key + "\nkey " + authority.key), "", "cluster.tls: cert and key: "},
		{clusterTLS("cert_file x"), "", "unknown option cert_file of tls; allowed: ca, cert, key"},
		{"config " + open, "", "config: its cluster block has neither authorization nor tls"},
		{"config " + closed, "", ""},
		{"config " + home + "/none.conf", "", "no such file"},
		{"config " + bad, "", "config: "},
		{"config " + good + "\nname n1", "", "set the other options in that file"},
		{"", "user edge\npassword {env.CLUSTER_PASSWORD}", "are for a server with a config of its own"},
		{"", "tls {\nca /etc/ca.pem\n}", "tls is for other servers"},
		{"", "servers nats://127.0.0.1:4222", "no other servers can be named beside it"},
	} {
		t.Run(test.lines+" "+test.more, func(t *testing.T) {
			err := load(t, test.lines, test.more)
			switch {
			case test.want == "":
				noError(t, err)
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("got %v, want %q", err, test.want)
			case strings.Contains(err.Error(), password):
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}

// JSON gets around the Caddyfile, and not around what protects secrets.
func TestLiteralPassword(t *testing.T) {
	s := Server{Dir: t.TempDir(), Cluster: &Cluster{Name: "edges", Listen: "127.0.0.1:6222", User: "edge", Password: password}}
	if err := s.Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), "placeholder") || strings.Contains(err.Error(), password) {
		t.Errorf("got %v", err)
	}
	s = Server{Dir: t.TempDir(), MaxStore: -1}
	if err := s.Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), "max_store") {
		t.Errorf("got %v", err)
	}
}

package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	nats "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/loopback"
)

// Links with the same options share a server, and what it has stored is there
// after a restart.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	server := func() *Server { return &Server{Name: "n", Dir: dir} }
	one, endOne := open(t, server())
	two, endTwo := open(t, server())
	must(t, errorOf(one.PutString(t.Context(), "k", "v")))
	if got, err := two.Get(t.Context(), "k"); err != nil || string(got.Value()) != "v" {
		t.Errorf("the second link has %v, %v", got, err)
	}
	endOne()
	if _, err := two.PutString(t.Context(), "k", "w"); err != nil {
		t.Errorf("the server has ended with its first user: %v", err)
	}
	endTwo()
	again, end := open(t, server())
	defer end()
	if got, err := again.Get(t.Context(), "k"); err != nil || string(got.Value()) != "w" {
		t.Errorf("after a restart: %v, %v", got, err)
	}
}

// Two servers would write to one folder: tokens that were acknowledged would be
// lost.
func TestNoSecondServer(t *testing.T) {
	dir := t.TempDir()
	_, end := open(t, &Server{Name: "n", Dir: dir})
	other := &Server{Name: "n", Dir: dir, MaxStore: 1 << 28}
	must(t, other.Provision(caddy.Context{}))
	if _, _, err := other.OpenServer(); err == nil || !strings.Contains(err.Error(), "they change with a restart") {
		t.Errorf("got %v", err)
	}
	end()
	_, end = open(t, other)
	end()
}

// A secret that changed is another server, and so is a file.
func TestKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nats.conf")
	keys := map[string]bool{}
	add := func(s *Server) {
		t.Helper()
		must(t, s.Provision(caddy.Context{}))
		if key := s.ServerKey(); keys[key] || strings.Contains(key, password) {
			t.Errorf("key %s", key)
		} else {
			keys[key] = true
		}
	}
	for i := range 2 {
		t.Setenv("CLUSTER_PASSWORD", fmt.Sprint(password, i))
		add(&Server{Dir: "d", Cluster: &Cluster{Name: "c", Listen: "127.0.0.1:1", Routes: []string{"nats://127.0.0.1:2"}, User: "u", Password: "{env.CLUSTER_PASSWORD}"}})
		must(t, os.WriteFile(file, fmt.Appendf(nil, "listen: 127.0.0.1:%d\n", 4000+i), 0o600))
		add(&Server{Config: file})
	}
}

// The listener of a server in a cluster is for its own process alone.
func TestStrangerAtTheListener(t *testing.T) {
	s := &Server{Name: "n", Dir: t.TempDir(), Cluster: &Cluster{
		Name: "edges", Listen: fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t)),
		Routes: []string{fmt.Sprintf("nats://127.0.0.1:%d", loopback.FreePort(t))},
	}}
	must(t, s.Provision(caddy.Context{}))
	connect, release, err := s.OpenServer()
	must(t, err)
	defer func() {
		noError(t, release())
	}()
	var url string
	servers.Range(func(_, v any) bool {
		url = v.(*running).ClientURL()
		return false
	})
	if conn, err := nats.Connect(url); err == nil {
		conn.Close()
		t.Error("a stranger is let in")
	}
	conn, err := nats.Connect("", connect)
	must(t, err)
	conn.Close()
}

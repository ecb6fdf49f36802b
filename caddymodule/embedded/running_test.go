package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	nats "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/smalldisk"
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
	defer func() { noError(t, release()) }()
	var r *running
	servers.Range(func(_, v any) bool {
		r = v.(*running)
		return false
	})
	for range 2 { // before and after the options are read again, as when JetStream is turned on again
		for _, as := range []nats.Option{nats.Name("no login"), nats.UserInfo("nobody", "")} {
			if conn, err := nats.Connect(r.ClientURL(), as); err == nil {
				conn.Close()
				t.Error("a stranger is let in")
			}
		}
		fresh, err := r.storage.options()
		must(t, err)
		must(t, r.ReloadOptions(fresh))
	}
	conn, err := nats.Connect("", connect)
	must(t, err)
	conn.Close()
}

// put writes values until they are written, or the test takes too long.
func put(t *testing.T, kv jetstream.KeyValue, values int) {
	t.Helper()
	for i := range values {
		await(t, "a value to be written", func() bool { return tryPut(t, kv, strconv.Itoa(i)) == nil })
	}
}

func tryPut(t *testing.T, kv jetstream.KeyValue, key string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := kv.Put(ctx, key, make([]byte, 1000))
	return err
}

// bucketOf makes a bucket on so many servers of a cluster.
func bucketOf(t *testing.T, r *running, replicas int) (kv jetstream.KeyValue) {
	t.Helper()
	conn, err := nats.Connect("", r.connect, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
	must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	must(t, err)
	await(t, "a bucket", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		kv, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "b", Replicas: replicas})
		return err == nil
	})
	return kv
}

// full fills a disk, and writes until the server has noticed.
func full(t *testing.T, disk string, r *running, kv jetstream.KeyValue) {
	t.Helper()
	smalldisk.Fill(t, disk)
	await(t, "the server to stop storing", func() bool {
		_ = tryPut(t, kv, "x")
		storing, known := r.storage.storing()
		return known && !storing
	})
}

// A server whose disk was full has its part in the bucket again when there is room:
// then another one may fail.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	list := make([]string, 3)
	for i := range list {
		list[i] = "127.0.0.1:" + strconv.Itoa(loopback.FreePort(t))
	}
	disk := smalldisk.Mount(t, 100<<20)
	dirs := []string{t.TempDir(), t.TempDir(), disk}
	servers := make([]*running, 3)
	for i := range servers {
		c := &Cluster{Name: "edges", Listen: list[i]}
		for _, other := range list {
			c.Routes = append(c.Routes, "nats://"+other)
		}
		servers[i] = serve(t, &Server{Name: "n" + strconv.Itoa(i), Dir: dirs[i], Cluster: c})
	}
	kv := bucketOf(t, servers[0], 3)
	put(t, kv, 10)
	full(t, disk, servers[2], kv)
	put(t, kv, 10) // the other two are a majority

	smalldisk.Free(t, disk)
	await(t, "the server to store again", func() bool { storing, _ := servers[2].storage.storing(); return storing })
	await(t, "what was written meanwhile", func() bool { return servers[2].JetStreamIsStreamCurrent("$G", "KV_b") })
	noError(t, servers[1].Destruct())
	put(t, kv, 10)
}

// A server alone stores again when there is room, and has what it had.
func TestFullDiskAlone(t *testing.T) {
	t.Parallel()
	disk := smalldisk.Mount(t, 100<<20)
	r := serve(t, &Server{Name: "alone", Dir: disk})
	kv := bucketOf(t, r, 1)
	must(t, errorOf(kv.Put(t.Context(), "kept", []byte("value"))))
	full(t, disk, r, kv)
	if err := tryPut(t, kv, "y"); err == nil {
		t.Error("a value was written without room")
	}
	smalldisk.Free(t, disk)
	put(t, kv, 10)
	if got, err := kv.Get(t.Context(), "kept"); err != nil || string(got.Value()) != "value" {
		t.Errorf("what it had: %v, %v", got, err)
	}
}

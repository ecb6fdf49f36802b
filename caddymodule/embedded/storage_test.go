package embedded

import (
	"context"
	"strconv"
	"testing"
	"time"

	nats "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/smalldisk"
)

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

// Package natstest runs NATS servers for tests, in the process of the test or as
// processes, and proxies in front of them.
package natstest

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/loopback"
)

// Server runs a server with JetStream on loopback until the test ends.
func Server(t testing.TB, change ...func(*server.Options)) *server.Server {
	t.Helper()
	s := launch(t, change...)
	if !s.ReadyForConnections(Limit) {
		t.Fatal("the NATS server does not start")
	}
	return s
}

func launch(t testing.TB, change ...func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()}
	for _, f := range change {
		f(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// Restartable is Server with a function that stops the server, and starts it with the
// folder and the port that it had. What is between runs while it is stopped.
func Restartable(t testing.TB, change ...func(*server.Options)) (s *server.Server, again func(between ...func())) {
	t.Helper()
	dir, port := t.TempDir(), loopback.FreePort(t)
	change = append(change, func(o *server.Options) { o.StoreDir, o.Port = dir, port })
	s = Server(t, change...)
	return s, func(between ...func()) {
		t.Helper()
		s.Shutdown()
		s.WaitForShutdown()
		for _, do := range between {
			do()
		}
		s = Server(t, change...)
	}
}

// Core is a server without JetStream.
func Core(o *server.Options) { o.JetStream = false }

// Cluster runs n servers as one cluster.
func Cluster(t testing.TB, n int, change ...func(*server.Options)) []*server.Server {
	t.Helper()
	var routes []*url.URL // JetStream wants to know them all from the start
	var ports []int
	for range n {
		port := loopback.FreePort(t)
		ports = append(ports, port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	var servers []*server.Server
	for i := range n {
		servers = append(servers, launch(t, append(change, func(o *server.Options) {
			o.ServerName = fmt.Sprintf("n%d", i)
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}
			o.Routes = routes
		})...))
	}
	for _, s := range servers {
		Await(t, "a server of the cluster", func() bool {
			return s.ReadyForConnections(time.Millisecond) && s.NumRoutes() > 0 && (!s.JetStreamEnabled() || s.JetStreamIsCurrent())
		})
	}
	return servers
}

// Connector connects to a server with options added to its own.
type Connector func(...client.Option) (*client.Conn, error)

// Connect returns a Connector to a server. Its connections go on trying while the
// server cannot be reached.
func Connect(s *server.Server) Connector {
	return ConnectTo(s.ClientURL())
}

// ConnectTo is Connect for an address. They do not soon take a server for silent: a machine
// may be busy.
func ConnectTo(url string) Connector {
	return func(o ...client.Option) (*client.Conn, error) {
		return client.Connect(url, append([]client.Option{
			client.RetryOnFailedConnect(true), client.MaxReconnects(-1), client.ReconnectWait(50 * time.Millisecond),
			client.PingInterval(time.Minute), client.MaxPingsOutstanding(2),
		}, o...)...)
	}
}

package natstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/capture"
	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/programs"
)

// Node is a nats-server that runs as a process.
type Node struct {
	Client, Route int    // ports on loopback
	Login         string // user:password for Await, or empty
	Env           []string

	program, file string
	store         string // the folder of JetStream; empty: Processes has not made it
	cmd           *exec.Cmd
	out           capture.Output
	exited        chan struct{}
}

// Build compiles nats-server, in the version of go.mod, into a folder, unless
// [programs.Folder] has it.
func Build(t testing.TB, dir string) (program string) {
	t.Helper()
	program, err := programs.Build(dir, "nats-server", "github.com/nats-io/nats-server/v2")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// Processes runs a cluster of n servers with JetStream until the test ends. The
// strings of cluster are added to the cluster block of the configuration.
func Processes(t testing.TB, program string, n int, cluster ...string) []*Node {
	t.Helper()
	var nodes []*Node
	var routes []string
	for range n {
		node := NewNode(t, program)
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", node.Route))
		nodes = append(nodes, node)
	}
	for i, node := range nodes {
		node.store = t.TempDir()
		config := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\njetstream { store_dir: %q }\n", i, node.Client, node.store)
		if n > 1 {
			config += fmt.Sprintf("cluster { name: test, listen: 127.0.0.1:%d, routes: [%s] %s}\n",
				node.Route, strings.Join(routes, ", "), strings.Join(cluster, " "))
		}
		node.Start(t, config)
	}
	for _, node := range nodes {
		node.Await(t)
	}
	return nodes
}

// NewNode returns a node with its ports, which does not run yet.
func NewNode(t testing.TB, program string) *Node {
	t.Helper()
	return &Node{
		Client: loopback.FreePort(t), Route: loopback.FreePort(t),
		program: program, file: filepath.Join(t.TempDir(), "nats.conf"),
	}
}

// Start starts the node with a configuration; it is stopped when the test ends.
func (n *Node) Start(t testing.TB, config string) {
	t.Helper()
	if err := os.WriteFile(n.file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	n.Restart(t)
}

// Restart starts the node again, with the configuration that it had.
func (n *Node) Restart(t testing.TB) {
	t.Helper()
	n.cmd = exec.Command(n.program, "-c", n.file)
	n.cmd.Env = append(os.Environ(), n.Env...)
	n.cmd.Stdout, n.cmd.Stderr = &n.out, &n.out
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd, exited := n.cmd, make(chan struct{})
	n.exited = exited
	go func() { // ends with the process
		_ = cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // may have ended
		select {
		case <-exited:
		case <-time.After(Limit):
			t.Errorf("the NATS server does not stop:\n%s", n.out.String())
			_ = cmd.Process.Kill()
			<-exited
		}
	})
}

// Kill sends SIGKILL, and waits until the process has ended.
func (n *Node) Kill(t testing.TB) {
	t.Helper()
	if err := n.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-n.exited
}

// Await returns when the node answers, and its JetStream too.
func (n *Node) Await(t testing.TB) {
	t.Helper()
	n.await(t, func(c *client.Conn) error {
		_, err := c.Request("$JS.API.INFO", nil, time.Second)
		return err
	})
}

// AwaitClients returns when the node takes clients.
func (n *Node) AwaitClients(t testing.TB) {
	t.Helper()
	n.await(t, (*client.Conn).Flush)
}

func (n *Node) await(t testing.TB, ready func(*client.Conn) error) {
	t.Helper()
	var err error
	for end := time.Now().Add(Limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var conn *client.Conn
		if conn, err = client.Connect(n.login()); err != nil {
			continue
		}
		err = ready(conn)
		conn.Close()
		if err == nil {
			return
		}
	}
	t.Fatalf("the NATS server does not answer: %v\n%s", err, n.out.String())
}

// Output returns what the node has written so far.
func (n *Node) Output() string { return n.out.String() }

// URL is the URL for clients.
func (n *Node) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", n.Client) }

func (n *Node) login() string {
	if n.Login == "" {
		return n.URL()
	}
	return strings.Replace(n.URL(), "://", "://"+n.Login+"@", 1)
}

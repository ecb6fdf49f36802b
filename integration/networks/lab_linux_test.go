package networks

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/programs"
	"github.com/millrace/millrace/internal/testcheck"
)

// The machines of a lab. This process is machine 0, and has the NATS server.
const (
	nearMachine   = 1 // to which the client goes
	farMachine    = 2 // where the publisher is, as a rule
	clientMachine = 3
)

const tenant, channel = "paint.room", "numbers"

// edgeName is another name of each edge, which no name server knows.
const edgeName = "edge.names.test"

// lab is two edges and a machine for a client.
type lab struct {
	*testing.T
	network   *netlab.Network
	near, far *edge
	token     string
}

var possible = sync.OnceValue(netlab.Possible)

func newLab(t *testing.T) *lab {
	t.Helper()
	if err := possible(); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	n, err := netlab.New(3)
	testcheck.Must(t, err)
	t.Cleanup(func() { testcheck.NoError(t, n.Close()) })
	return &lab{T: t, network: n}
}

func startLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	n := l.network
	nats := natstest.Server(t, func(o *server.Options) { o.Host = n.Machine(0).IP })
	joins := func(e *harness.Edge) { e.Store, e.Broker = "nats", "nats "+nats.ClientURL() }
	l.near = startEdge(t, n.Machine(nearMachine), joins)
	l.far = startEdge(t, n.Machine(farMachine), joins, harness.WithMaster(l.near.Edge))
	l.issue()
	return l
}

// issue makes the token of the clients.
func (l *lab) issue() {
	l.Helper()
	admin, err := client.NewTokenAdmin(l.near.plain(), l.near.Master, client.WithPlaintext())
	l.near.Must(err)
	issued, err := admin.Issue(l.Context(), client.IssueRequest{
		CreatedBy: "networks", ExpiresIn: time.Hour,
		Grants: []client.Grant{{Tenants: []string{"room"}, Publish: []string{"#"}, Subscribe: []string{"#"}}},
	})
	l.near.Must(err)
	l.token = issued.Token
}

// treat treats packets between the client and the near edge so.
func (l *lab) treat(how netlab.Treatment) { l.network.Set(clientMachine, nearMachine, how) }

// edge is an edge in a machine of its own.
type edge struct {
	*harness.Edge
	netlab.Machine
}

func (e *edge) url() string   { return fmt.Sprintf("https://%s:%d", e.IP, e.HTTPS) }
func (e *edge) plain() string { return fmt.Sprintf("http://%s:%d", e.IP, e.HTTP) }

// startEdge returns when clients may come.
func startEdge(t *testing.T, m netlab.Machine, options ...harness.Option) *edge {
	t.Helper()
	e := launchEdge(t, m, options...)
	e.Poll("the edge to be ready", func() bool { return e.readiness() == http.StatusOK })
	for _, name := range []string{m.IP, edgeName, "x." + edgeName} {
		e.Poll("its certificates", func() bool {
			conn, err := tls.Dial("tcp", strings.TrimPrefix(e.url(), "https://"), &tls.Config{InsecureSkipVerify: true, ServerName: name})
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
	}
	return e
}

// readiness is the status of /ready; 0: the edge does not answer.
func (e *edge) readiness() int {
	response, err := http.Get(e.plain() + "/ready")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// launchEdge does not wait until the edge can do anything.
func launchEdge(t *testing.T, m netlab.Machine, options ...harness.Option) *edge {
	t.Helper()
	inside, err := filepath.Abs("testdata/inside")
	testcheck.Must(t, err)
	caddyfile := strings.NewReplacer(
		"https://localhost:{{.HTTPS}} {", "https://"+m.IP+":{{.HTTPS}}, https://"+edgeName+":{{.HTTPS}}, https://*."+edgeName+":{{.HTTPS}} {",
		"admin localhost:{{.Admin}}", "admin localhost:2019\n\tdefault_sni "+m.IP, "localhost:{{", m.IP+":{{",
		"allow_ip_masks 127.0.0.0/8", "",
		"\tpubsub {", "\tpubsub {\n\t\tallow_plaintext", "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n",
	).Replace(harness.DefaultCaddyfile)
	return &edge{harness.StartEdge(t, caddyfile, append([]harness.Option{harness.ForBrowsers, func(e *harness.Edge) {
		e.Program, e.Bind = inside, m.IP
		e.Env = append(e.Env, "NETNS="+m.Namespace, "MILLRACE="+program("millrace"))
	}}, options...)...), m}
}

func program(name string) string { return filepath.Join(os.Getenv(programs.Folder), name) }

// again starts an edge that was killed.
func (e *edge) again() { e.Edge = startEdge(e.T, e.Machine, sdk.Again(e.Edge)).Edge }

// publish publishes at an edge, until halt: numbers with the time, in so many bytes at least. Its
// WebSocket breaks in no case; it waits as long as the edge does. halt returns how many there are.
func (l *lab) publish(at *edge, every time.Duration, size int) (halt func() int) {
	l.Helper()
	c, err := client.Connect(l.Context(), []string{at.plain()}, client.Options{
		Token: l.token, Transports: []client.Transport{client.WebSocket}, AllowPlaintext: true, KeepAlive: -1,
	})
	l.near.Must(err)
	l.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithCancel(l.Context())
	sent := make(chan int, 1)
	go func() { // ends with halt
		n := 0
		for ; ctx.Err() == nil; n++ {
			payload := fmt.Appendf(nil, "%-*s", size, fmt.Sprint(n, time.Now().UnixNano()))
			if err := c.Publish(context.WithoutCancel(ctx), tenant, channel, payload); err != nil {
				l.Errorf("message %d: %v", n, err)
				break
			}
			select {
			case <-time.After(every):
			case <-ctx.Done():
			}
		}
		sent <- n
	}()
	return func() int {
		cancel()
		n := <-sent
		l.near.Must(c.Flush(l.Context()))
		return n
	}
}

// driver is a client in its machine that has yet to connect, and ends with the test. Variables of
// its environment are NAME=value.
func (l *lab) driver(k sdk.Kind, variables ...string) *sdk.Client {
	l.Helper()
	machine, root := l.network.Machine(clientMachine), l.near.RootFile()
	var cmd *exec.Cmd
	switch k.Where {
	case "go":
		cmd = machine.Command("env", append(variables, program("sdkgo"))...)
	case "node":
		cmd = machine.Command("env", append(variables, "node", "clients/sdk_node.mjs")...)
	case "python":
		cmd = machine.Command("env", append(variables, "clients/.venv/bin/python", "clients/sdk_python.py")...)
	default: // the driver adds the environment of this process
		cmd = machine.Command("env", hostEnv+"="+k.Where, os.Args[0], "-test.run=^TestBrowserHost$")
	}
	cmd.Dir = ".."
	c := sdk.NewClient(l.T, "c", k, nil)
	driver, _, err := sdk.StartDriver(cmd, root, sdk.Limit, c.Accept, c.Fail)
	l.near.Must(err)
	c.Host = driver
	l.Cleanup(func() { testcheck.NoError(l.T, driver.End()) })
	return c
}

// subscriber is a client in its machine that connects and subscribes, and ends with the test.
func (l *lab) subscriber(k sdk.Kind, edges ...*edge) *sdk.Sub {
	l.Helper()
	c := l.driver(k)
	connect := sdk.Command{Cmd: "connect", Options: &sdk.Options{Token: l.token, Transports: []string{k.Transport}}}
	if k.Transport == "webtransport" {
		connect.Options.Transports = append(connect.Options.Transports, "websocket")
	}
	for _, e := range edges {
		connect.Addresses = append(connect.Addresses, e.url())
		if k.InBrowser() { // which compares the hash
			conn, err := tls.Dial("tcp", strings.TrimPrefix(e.url(), "https://"), &tls.Config{InsecureSkipVerify: true})
			e.Must(err)
			hash := sha256.Sum256(conn.ConnectionState().PeerCertificates[0].Raw)
			connect.Options.Hashes = append(connect.Options.Hashes, hash[:])
			_ = conn.Close()
		}
	}
	c.Must(connect)
	if r := c.Event("connected"); r.Edge != l.near.url() || r.Transport != k.Transport {
		l.Fatalf("the client is at %s over %s", r.Edge, r.Transport)
	}
	return c.SubscribeAs("callback", tenant, channel, nil)
}

// message is the number of a message, and when it was sent.
func message(r sdk.Report) (number int, sent time.Time) {
	var at int64
	_, _ = fmt.Sscan(string(r.Payload), &number, &at) // what is no message is of 1970
	return number, time.Unix(0, at)
}

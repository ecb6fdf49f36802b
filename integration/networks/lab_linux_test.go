package networks

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/capture"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/netlab"
)

// The machines of a lab. This process is machine 0, and has the NATS server.
const (
	nearMachine   = 1 // to which the client goes
	farMachine    = 2 // where the publisher is, as a rule
	clientMachine = 3
)

const (
	master = "MT_00000000000000000000000000000001_00000000000000000000000000000002"
	tenant = "t.room"
)

// lab is two edges and a machine for a client.
type lab struct {
	*testing.T
	network   *netlab.Network
	near, far *edge
	roots     string // the folder with the authority of the edges' certificate
	hash      [sha256.Size]byte
	token     string
}

func startLab(t *testing.T) *lab {
	t.Helper()
	n := startNetwork(t, 3)
	l := &lab{T: t, network: n}
	dir := t.TempDir()
	harness.PutBrowserRoot(t, dir)
	l.roots = filepath.Join(dir, "pki/authorities/local")
	leaf := harness.BrowserLeaf(t, n.Machine(nearMachine).IP, n.Machine(farMachine).IP)
	key, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Certificate[0]})
	file := filepath.Join(dir, "leaf.pem")
	if err := os.WriteFile(file, append(certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...), 0o600); err != nil {
		t.Fatal(err)
	}
	l.hash = sha256.Sum256(leaf.Certificate[0])
	nats := natstest.Server(t, func(o *server.Options) { o.Host = n.Machine(0).IP })
	for number, e := range map[int]**edge{nearMachine: &l.near, farMachine: &l.far} {
		*e = startEdge(t, n.Machine(number), fmt.Sprintf(caddyfile, n.Machine(number).IP, nats.ClientURL(), file))
	}
	l.near.awaitReady()
	l.far.awaitReady()
	l.token = l.far.issue()
	return l
}

// treat treats packets between the client and the near edge so.
func (l *lab) treat(how netlab.Treatment) { l.network.Set(clientMachine, nearMachine, how) }

// heal mends the network.
func (l *lab) heal() {
	l.Helper()
	l.treat(netlab.Treatment{})
	l.network.Set(clientMachine, farMachine, netlab.Treatment{})
	if err := l.network.ForgetMTUs(); err != nil {
		l.Fatal(err)
	}
}

// probeMTUs has the machines of the edges find out by themselves how much passes over TCP, or
// not.
func (l *lab) probeMTUs(probe bool) {
	l.Helper()
	value := map[bool]string{false: "0", true: "1"}[probe]
	for _, e := range []*edge{l.near, l.far} {
		if out, err := e.machine.Command("sh", "-c", "echo "+value+" >/proc/sys/net/ipv4/tcp_mtu_probing").CombinedOutput(); err != nil {
			l.Fatalf("%v: %s", err, out)
		}
	}
}

const caddyfile = `{
	admin localhost:2019
	skip_install_trust
	auto_https off
	https_port 8443
	default_sni %[1]s
	pubsub {
		allow_plaintext
		master_token {env.MILLRACE_MASTER_TOKEN} {
			name test
			tenant_prefix t.
		}
		bandwidth {
			default_ingress 16384
			default_egress 16384
			max 16384
		}
		broker nats %[2]s
		token_store nats
	}
}
http://%[1]s:8080 {
	bind %[1]s
	pubsub
	pubsub_ready
}
https://%[1]s:8443 {
	bind %[1]s
	tls %[3]s %[3]s
	pubsub
}
`

// edge is one process in a namespace of its own.
type edge struct {
	t       *testing.T
	machine netlab.Machine
	dir     string

	cmd *exec.Cmd
	out *capture.Output
	end chan struct{}
}

// startEdge starts an edge that ends with the test.
func startEdge(t *testing.T, machine netlab.Machine, caddyfile string) *edge {
	t.Helper()
	e := &edge{t: t, machine: machine, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(e.dir, "Caddyfile"), []byte(caddyfile), 0o600); err != nil {
		t.Fatal(err)
	}
	e.start()
	t.Cleanup(func() {
		e.signal(syscall.SIGCONT)
		e.kill()
	})
	return e
}

func (e *edge) url() string { return "https://" + e.machine.IP + ":8443" }

// start starts the process.
func (e *edge) start() {
	e.t.Helper()
	e.cmd = e.machine.Command(filepath.Join(built, "millrace"), "run", "--config", filepath.Join(e.dir, "Caddyfile"))
	e.cmd.Env = append(os.Environ(), "HOME="+e.dir, "XDG_DATA_HOME="+e.dir+"/data", "XDG_CONFIG_HOME="+e.dir+"/config",
		"MILLRACE_MASTER_TOKEN="+master)
	e.out, e.end = new(capture.Output), make(chan struct{})
	e.cmd.Stdout, e.cmd.Stderr = e.out, e.out
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	go func() { // ends with the process
		_ = e.cmd.Wait()
		close(e.end)
	}()
}

// kill ends the process, and waits for that.
func (e *edge) kill() {
	e.signal(syscall.SIGKILL)
	<-e.end
}

func (e *edge) signal(s syscall.Signal) {
	if err := e.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		e.t.Errorf("signal to %s: %v", e.machine.IP, err)
	}
}

// awaitReady waits until clients may come.
func (e *edge) awaitReady() {
	e.t.Helper()
	client := http.Client{Timeout: time.Second}
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		response, err := client.Get("http://" + e.machine.IP + ":8080/ready")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			e.t.Fatalf("an edge is not ready after %v (%v); it wrote:\n%s", limit, err, e.out.String())
		}
	}
}

// issue gets an access token for everything in the tenant.
func (e *edge) issue() string {
	e.t.Helper()
	right := harness.Object{"tenant_grants": []harness.Object{harness.AllowAll("room")}, "expires_at": harness.In(12 * time.Hour)}
	body, err := json.Marshal(harness.Object{"created_by": "networks", "right": right})
	if err != nil {
		e.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+e.machine.IP+":8080/v1/get-token", bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+master)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Token string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		e.t.Fatalf("a token was answered %d: %v", response.StatusCode, err)
	}
	return answer.Token
}

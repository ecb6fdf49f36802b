package programs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

// A kitEdge is an edge as test kits start it: what dev --json has printed.
type kitEdge struct {
	*harness.Background `json:"-"`
	stdin               io.Closer

	HTTP        string `json:"http"`
	HTTPS       string `json:"https"`
	CAFile      string `json:"ca_file"`
	DataDir     string `json:"data_dir"`
	Admin       string `json:"admin"`
	MasterToken string `json:"master_token"`
	Tenant      string `json:"tenant"`
	AccessToken string `json:"access_token"`
}

func startKit(t *testing.T, flags ...string) *kitEdge {
	t.Helper()
	cmd := exec.Command(harness.Program, append([]string{"pubsub", "dev", "--json", "--token", "--port", "0", "--exit-with-stdin"}, flags...)...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "TMPDIR=" + os.Getenv("TMPDIR")}
	stdin, err := cmd.StdinPipe()
	must(t, err)
	return &kitEdge{Background: harness.StartBackground(t, cmd), stdin: stdin}
}

// awaitReady reads the line; it fails if there is more than one.
func (e *kitEdge) awaitReady(t *testing.T) {
	t.Helper()
	e.Await(e.Out, "\n")
	must(t, json.Unmarshal([]byte(e.Out.String()), e))
}

// connect connects to an origin of the edge, with the token that it gave.
func (e *kitEdge) connect(t *testing.T, origin string) *client.Client {
	t.Helper()
	pem, err := os.ReadFile(e.CAFile)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := client.Connect(t.Context(), []string{origin}, client.Options{Token: e.AccessToken, TLS: &tls.Config{RootCAs: roots}})
	must(t, err)
	return c
}

// ended checks that the edge ends by itself, without an error, and that its folder is gone.
func (e *kitEdge) ended(t *testing.T) {
	t.Helper()
	code := e.ExitCode()
	if _, err := os.Stat(e.DataDir); code != 0 || !os.IsNotExist(err) {
		t.Errorf("exit code %d, and of its folder %v; stderr:\n%s", code, err, e.Err)
	}
}

// Test kits start edges by dev --json --port 0: several at a time, each by itself, that serve
// when they say so, and end with whoever has started them.
func TestDevJSON(t *testing.T) {
	t.Parallel()
	a, b := startKit(t), startKit(t)
	for _, e := range []*kitEdge{a, b} {
		e.awaitReady(t)
		for _, origin := range []string{e.HTTP, e.HTTPS} {
			c := e.connect(t, origin)
			_, err := c.PublishConfirmed(t.Context(), e.Tenant, "chat.hall", nil)
			must(t, err)
			must(t, c.Close())
		}
		must(t, exec.Command(harness.Program, "pubsub", "master-token", "list", "--address", e.Admin).Run())
		if !harness.MasterToken.MatchString(e.MasterToken) {
			t.Errorf("no master token: %s", e.Out)
		}
	}
	if a.HTTP == b.HTTP || a.HTTPS == b.HTTPS || a.DataDir == b.DataDir || a.Admin == b.Admin {
		t.Errorf("two edges share something: %s%s", a.Out, b.Out)
	}
	a.Signal(syscall.SIGTERM)
	a.ended(t)
	defer b.connect(t, b.HTTP).Close() // a client that is left does not keep it
	must(t, b.stdin.Close())
	b.ended(t)
}

// An edge with a folder keeps it for the next one, whose admin endpoint is at the same path.
func TestDevJSONFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := startKit(t, "--dir", dir)
	a.awaitReady(t)
	second := exec.Command(harness.Program, "pubsub", "dev", "--port", "0", "--dir", dir)
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "an edge runs with this admin endpoint") {
		t.Errorf("a second edge in the same folder: %v\n%s", err, out)
	}
	must(t, a.Cmd.Process.Kill())
	<-a.Exited
	b := startKit(t, "--dir", dir)
	b.awaitReady(t)
	if a.MasterToken == b.MasterToken {
		t.Error("the second start prints no new master token")
	}
}

package networks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/capture"
	"github.com/millrace/millrace/internal/netlab"
)

const (
	master = "MT_00000000000000000000000000000001_00000000000000000000000000000002"
	tenant = "t.room"
)

// edge is one process in a namespace of its own.
type edge struct {
	t       *testing.T
	machine netlab.Machine
	dir     string

	cmd *exec.Cmd
	out *capture.Output
	end chan struct{}
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
	tls %[3]s %[4]s
	pubsub
}
`

// config writes the edge's Caddyfile.
func (e *edge) config(nats string, c *certificate) {
	e.t.Helper()
	text := fmt.Sprintf(caddyfile, e.machine.IP, nats, c.file, c.key)
	if err := os.WriteFile(e.file(), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

func (e *edge) file() string { return filepath.Join(e.dir, "Caddyfile") }

func (e *edge) url() string { return "https://" + e.machine.IP + ":8443" }

// start starts the process.
func (e *edge) start() {
	e.t.Helper()
	e.cmd = e.machine.Command(millrace, "run", "--config", e.file())
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

func (e *edge) ready() bool {
	client := http.Client{Timeout: time.Second}
	response, err := client.Get("http://" + e.machine.IP + ":8080/ready")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// awaitReady waits until clients may come.
func (e *edge) awaitReady() {
	e.t.Helper()
	for end := time.Now().Add(waitTimeout); !e.ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("an edge is not ready after %v; it wrote:\n%s", waitTimeout, e.out.String())
		}
	}
}

// issue gets an access token for everything in the tenant.
func (e *edge) issue() string {
	e.t.Helper()
	body, err := json.Marshal(map[string]any{
		"created_by": "networks",
		"right": map[string]any{
			"tenant_grants": []any{map[string]any{"tenant_ids": []string{"room"}, "allow_channels_pub": []string{"#"}, "allow_channels_sub": []string{"#"}}},
			"expires_at":    time.Now().Add(12 * time.Hour).UTC().Format(time.RFC3339),
		},
	})
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
	var answer struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		e.t.Fatalf("a token was answered %d: %v", response.StatusCode, err)
	}
	return answer.Token
}

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/capture"
)

// waitTimeout bounds every wait.
const waitTimeout = time.Minute

const (
	master         = "MT_00000000000000000000000000000001_00000000000000000000000000000002"
	routesPassword = "c0rrect-horse"
)

// edge is one process, in a namespace of its own where that is possible.
type edge struct {
	t       testing.TB
	number  int    // from 1 on, of its port
	ip, ns  string // ns is empty: this process's own
	dir     string
	disk    string // of its NATS server
	program string
	stood   atomic.Bool // it stood still, and what it had is late
	suspect atomic.Bool // something happens to it, or has, and messages may be lost
	client  http.Client

	mu  sync.Mutex
	cmd *exec.Cmd
	out *capture.Output
	end chan struct{}
}

const caddyfile = `{
	admin %[5]s:2019
	skip_install_trust
	auto_https off
	pubsub {
		region EU
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
		broker nats {
			embedded {
				name edge-%[1]d
				dir %[2]s
				cluster edges {
					listen %[3]s:6222
					routes %[4]s
					user edge
					password {env.ROUTES_PASSWORD}
				}
			}
			announce edge-%[1]d.example.com
		}
		token_store nats {
			replicas 3
		}
	}
}
http://%[3]s:8080 {
	bind %[3]s
	pubsub
	pubsub_edges
	pubsub_ready
}
`

// config writes the edge's Caddyfile.
func (e *edge) config(n between) {
	var routes []string
	for other := 1; other <= machines; other++ {
		if other != e.number {
			routes = append(routes, "nats://"+n.route(e.number, other))
		}
	}
	text := fmt.Sprintf(caddyfile, e.number, e.disk, e.ip, strings.Join(routes, " "), n.admin(e.number))
	if err := os.WriteFile(filepath.Join(e.dir, "Caddyfile"), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// start starts the process.
func (e *edge) start() {
	e.mu.Lock()
	defer e.mu.Unlock()
	args := []string{e.program, "run", "--config", filepath.Join(e.dir, "Caddyfile")}
	if e.ns != "" {
		args = append([]string{"ip", "netns", "exec", e.ns}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+e.dir, "XDG_DATA_HOME="+e.dir+"/data", "XDG_CONFIG_HOME="+e.dir+"/config",
		"MILLRACE_MASTER_TOKEN="+master, "ROUTES_PASSWORD="+routesPassword)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out := new(capture.Output)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		e.t.Error(err)
		return
	}
	end := make(chan struct{})
	go func() { // ends with the process
		_ = cmd.Wait()
		close(end)
	}()
	e.cmd, e.out, e.end = cmd, out, end
}

// signal sends a signal; in a namespace, to the program that ip has become.
func (e *edge) signal(s syscall.Signal) {
	e.mu.Lock()
	cmd := e.cmd
	e.mu.Unlock()
	if err := cmd.Process.Signal(s); err != nil {
		e.t.Errorf("signal to edge %d: %v", e.number, err)
	}
}

// call makes a REST call, with the master token.
func (e *edge) call(method, path string, body, answer any) (status int, err error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, "http://"+e.ip+":8080"+path, content)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+master)
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if answer != nil && response.StatusCode == http.StatusOK {
		err = json.NewDecoder(response.Body).Decode(answer)
	}
	return response.StatusCode, err
}

// ready reports whether the edge says that clients may come.
func (e *edge) ready() bool {
	status, err := e.call(http.MethodGet, "/ready", nil, nil)
	return err == nil && status == http.StatusOK
}

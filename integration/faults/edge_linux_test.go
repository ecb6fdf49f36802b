package faults

import (
	"bytes"
	"encoding/json"
	"errors"
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

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/internal/capture"
)

const (
	master         = "MT_00000000000000000000000000000001_00000000000000000000000000000002"
	routesPassword = "c0rrect-horse"
	tokenTime      = 5 * time.Hour // longer than clocks are wrong by
)

// edge is one process, in a namespace of its own where that is possible.
type edge struct {
	t                   testing.TB
	number              int         // from 1 on, of its machine
	namespace           string      // empty: this process's own
	http, admin, listen string      // addresses; listen is for routes
	dir, disk           string      // disk is that of its NATS server
	stood               atomic.Bool // it stood still, and what it had is late
	suspect             atomic.Bool // something happens to it, or has, and messages may be lost
	client              http.Client

	mu  sync.Mutex
	cmd *exec.Cmd
	out *capture.Output
	end chan struct{}
}

const caddyfile = `{
	admin %[5]s
	skip_install_trust
	auto_https off
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
		broker nats {
			embedded {
				name edge-%[1]d
				dir %[2]s
				cluster edges {
					listen %[3]s
					routes %[4]s
					user edge
					password {env.ROUTES_PASSWORD}
				}
			}
		}
		token_store nats {
			replicas 3
		}
	}
}
http://%[6]s {
	bind %[7]s
	pubsub
	pubsub_ready
}
`

// config writes the edge's Caddyfile.
func (e *edge) config(routes []string) {
	ip, _, _ := strings.Cut(e.http, ":")
	text := fmt.Sprintf(caddyfile, e.number, e.disk, e.listen, strings.Join(routes, " "), e.admin, e.http, ip)
	if err := os.WriteFile(filepath.Join(e.dir, "Caddyfile"), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

func (e *edge) start() {
	e.mu.Lock()
	defer e.mu.Unlock()
	args := []string{millrace, "run", "--config", filepath.Join(e.dir, "Caddyfile")}
	if e.namespace != "" {
		args = append([]string{"ip", "netns", "exec", e.namespace}, args...)
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
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, "http://"+e.http+path, content)
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

type token struct {
	Token string `json:"token"`
	ID    string `json:"token_id"`
}

func (e *edge) issue() (t token, err error) {
	status, err := e.call(http.MethodPost, "/v1/get-token", map[string]any{
		"created_by": "faults",
		"right": map[string]any{
			"tenant_grants": []any{map[string]any{"tenant_ids": []string{"room"}, "allow_channels_pub": []string{"#"}, "allow_channels_sub": []string{"#"}}},
			"expires_at":    time.Now().Add(tokenTime).UTC().Format(time.RFC3339),
		},
	}, &t)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	return t, err
}

// statuses returns the status of all tokens at an edge, by id.
func (e *edge) statuses() (map[string]string, error) {
	all := map[string]string{}
	for cursor := "?limit=1000"; ; {
		var page struct {
			Tokens []struct {
				ID     string `json:"token_id"`
				Status string `json:"status"`
			} `json:"tokens"`
			Next string `json:"next_cursor"`
		}
		status, err := e.call(http.MethodGet, "/v1/tokens"+cursor, nil, &page)
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("status %d, %w", status, err)
		}
		for _, t := range page.Tokens {
			all[t.ID] = t.Status
		}
		if page.Next == "" {
			return all, nil
		}
		cursor = "?limit=1000&cursor=" + page.Next
	}
}

// session is a client with a token at an edge.
type session struct {
	edge  *edge
	ended time.Time // read after done
	done  chan struct{}
}

// errUnauthorized: the edge does not accept the token.
var errUnauthorized = errors.New("the token was refused with 401")

func (e *edge) dial(t token) (*websocket.Conn, error) {
	dialer := websocket.Dialer{HandshakeTimeout: 10 * time.Second}
	conn, res, err := dialer.Dial("ws://"+e.http+"/ws", http.Header{"Authorization": {"Bearer " + t.Token}})
	if res != nil && res.StatusCode == http.StatusUnauthorized {
		return nil, errUnauthorized
	}
	return conn, err
}

func (l *lab) connect(e *edge, t token) (*session, error) {
	conn, err := e.dial(t)
	if err != nil {
		return nil, err
	}
	s := &session{edge: e, done: make(chan struct{})}
	go func() { // ends with the session
		defer close(s.done)
		for err := error(nil); err == nil; {
			_, _, err = conn.ReadMessage()
		}
		s.ended = time.Now()
	}()
	l.Cleanup(func() { _ = conn.Close(); <-s.done })
	return s, nil
}

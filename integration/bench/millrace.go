package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"
)

// caddyfile configures the measured edge: an access log, plain HTTP, HTTPS with
// certificates of Caddy's own authority, and HTTP/3.
//
//go:embed Caddyfile.tmpl
var caddyfile string

const (
	millrace = "millrace"
	tenant   = "bench"
	edgeCap  = 16384 // KB/s, of every token that names no other, in most runs
)

// edgeOptions are what a scenario needs of the edge's configuration.
type edgeOptions struct {
	Broker    string   // empty: the default
	Cap       int      // of a connection, KB/s; 0: edgeCap
	Bandwidth []string // lines of the bandwidth block
	Limits    []string // lines of the limits block

	History      string // channels of a history; empty: there is none
	HistoryStore string // empty: the default

	Presence string // channels of a presence; empty: there is none

	Another string // tenant prefix of another master token; empty: there is none

	Counted int // tenants that metrics count, the first ones that publish
}

// The servers of the group histories: an edge with a history that keeps another channel than
// the one that is used, and with one that keeps it, in memory and on disk.
const (
	millraceOther = "millrace-other"
	millraceKept  = "millrace-kept"
	millraceDisk  = "millrace-disk"
)

// historyOf returns the history of such a server: its channels, and its store.
func historyOf(server string) (channels, store string) {
	switch server {
	case millraceOther:
		return "elsewhere.#", "memory"
	case millraceKept:
		return "bench.#", "memory"
	case millraceDisk:
		return "bench.#", "badger"
	}
	return "", ""
}

// edge is one running millrace process.
type edge struct {
	edgeOptions
	*child
	Dir                string // its home, data and log
	HTTP, HTTPS, Admin int    // loopback ports

	master string // its master token
	other  string // that of edgeOptions.Another
}

// buildMillrace compiles the program from the repository's sources.
func buildMillrace(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, "millrace")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/millrace")
	if cmd.Dir, err = repository(ctx); err != nil {
		return "", err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building millrace: %w\n%s", err, out)
	}
	return path, nil
}

// repository returns the folder of the module millrace: two above this one.
func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	folder := filepath.Dir(string(bytes.TrimSpace(out)))
	if _, err := os.Stat(filepath.Join(folder, "..", "..", "cmd", "millrace")); err != nil {
		return "", fmt.Errorf("run this in the folder integration/bench: %w", err)
	}
	return filepath.Join(folder, "..", ".."), nil
}

// startEdge runs the program, and returns when it answers.
func startEdge(ctx context.Context, l *launcher, program, dir string, o edgeOptions) (*edge, error) {
	e := &edge{edgeOptions: o, Dir: dir, master: newMaster(), other: newMaster()}
	for _, port := range []*int{&e.HTTP, &e.HTTPS, &e.Admin} {
		var err error
		if *port, err = freePort(); err != nil {
			return nil, err
		}
	}
	if e.Cap == 0 {
		e.Cap = edgeCap
	}
	var text bytes.Buffer
	if err := template.Must(template.New("Caddyfile").Parse(caddyfile)).Execute(&text, e); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MILLRACE_MASTER_TOKEN="+e.master, "MILLRACE_OTHER_TOKEN="+e.other,
		"HOME="+dir, "XDG_DATA_HOME="+dir+"/data", "XDG_CONFIG_HOME="+dir+"/config")
	var err error
	if e.child, err = l.startChild(millrace, cmd); err != nil {
		return nil, err
	}
	if err := e.awaitPing(ctx); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

// awaitPing returns when the edge has its certificate and answers.
func (e *edge) awaitPing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if e.pings(ctx) {
			return nil
		}
		select {
		case <-tick.C:
		case <-e.exited:
			return e.failure()
		case <-ctx.Done():
			return fmt.Errorf("millrace does not answer: %w; it wrote:\n%s", ctx.Err(), e.tail.String())
		}
	}
}

// pings reports whether both sites answer.
func (e *edge) pings(ctx context.Context) bool {
	insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} // loopback
	client := http.Client{Transport: insecure}
	for _, url := range []string{fmt.Sprintf("http://127.0.0.1:%d/ping", e.HTTP), fmt.Sprintf("https://127.0.0.1:%d/ping", e.HTTPS)} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false
		}
		res, err := client.Do(req)
		if err != nil {
			return false
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}

func newMaster() string { return "MT_" + randomHex() + "_" + randomHex() }

// token issues an access token for all channels of one tenant, with caps in KB/s; 0: the
// edge's default.
func (e *edge) token(ctx context.Context, tenant string, ingress, egress int) (string, error) {
	return e.issue(ctx, e.master, []string{tenant}, ingress, egress)
}

// issue issues an access token of a master token, for all channels and histories of tenants, and for who is
// present there.
func (e *edge) issue(ctx context.Context, master string, tenants []string, ingress, egress int) (string, error) {
	right := map[string]any{
		"expires_at": time.Now().Add(12 * time.Hour).UTC().Format(time.RFC3339),
		"tenant_grants": []any{map[string]any{
			"tenant_ids": tenants, "allow_channels_pub": []string{"#"}, "allow_channels_sub": []string{"#"},
			"allow_channels_history": []string{"#"},
		}},
	}
	if ingress > 0 {
		right["ingress_kb_per_sec"] = ingress
	}
	if egress > 0 {
		right["egress_kb_per_sec"] = egress
	}
	body, err := json.Marshal(map[string]any{"created_by": "bench", "right": right})
	if err != nil {
		return "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/v1/get-token", e.HTTP)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+master)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return "", err
	}
	var issued struct{ Token string }
	if err := json.Unmarshal(answer, &issued); err != nil || issued.Token == "" {
		return "", fmt.Errorf("get-token: %s", res.Status)
	}
	return issued.Token, nil
}

// target returns how to reach the edge over a transport, with a token.
func (e *edge) target(transport, tenant, token string) target {
	t := target{Server: millrace, Transport: transport, Tenant: tenant, Token: token, Cap: e.Cap,
		CAFile: filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")}
	switch transport {
	case overTLS:
		t.URL = fmt.Sprintf("wss://127.0.0.1:%d/ws", e.HTTPS)
	case overWebTransport:
		t.URL = fmt.Sprintf("https://127.0.0.1:%d/wt", e.HTTPS)
	default:
		t.URL, t.CAFile = fmt.Sprintf("ws://127.0.0.1:%d/ws", e.HTTP), ""
	}
	return t
}

func randomHex() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// freePort returns a port that is free for TCP and UDP on loopback, below those that
// outgoing connections and the tests of other packages use (internal/loopback).
func freePort() (int, error) {
	for range 100 {
		port := 10000 + mathrand.IntN(10000)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		tcp, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		udp, err := net.ListenPacket("udp", address)
		tcp.Close()
		if err == nil {
			udp.Close()
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port is free for TCP and UDP")
}

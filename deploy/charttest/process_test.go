package charttest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the edge that scripts/chart.sh has built.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MILLRACE_PROGRAM")
	if path == "" {
		t.Fatal("MILLRACE_PROGRAM must be the path of the program: run scripts/chart.sh")
	}
	return path
}

// command makes a command of the program with an environment that begins empty.
func command(ctx context.Context, t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, program(t), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// cli runs a command to its end, and returns what it prints.
func cli(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, t, env, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("millrace %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out)), err
}

// certificate writes a certificate that is its own authority, for hosts, and its key.
func certificate(t *testing.T, dir string, hosts ...string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "charttest"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tls.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

// write makes a new file in place of the one that may be there.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An edge is a process that runs the chart's Caddyfile.
type edge struct {
	ip   string
	home string
	cmd  *exec.Cmd
	log  output
	exit chan error
}

// output collects what a process writes, while it writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// admin is the admin endpoint of the edge in a folder; Caddy accepts no other names of this
// machine than localhost.
func admin(home string) string { return "unix/" + filepath.Join(home, "admin.sock") }

// start starts the edge in the folder home, which ends with the test at the latest.
func start(t *testing.T, ip, home string, env []string) *edge {
	t.Helper()
	e := &edge{ip: ip, home: home, exit: make(chan error, 1)}
	e.cmd = command(context.WithoutCancel(t.Context()), t, env, "run", "--config", filepath.Join(home, "Caddyfile"))
	e.cmd.Stdout, e.cmd.Stderr = &e.log, &e.log
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // ends with the process
		e.exit <- e.cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = e.cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("edge %s:\n%s", ip, e.log.String())
		}
	})
	return e
}

// ready returns the status and the body of /ready: 0 without an answer.
func (e *edge) ready(t *testing.T) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+e.ip+":8080/ready", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return res.StatusCode, string(body)
}

// await waits until done; two minutes are for a machine that is busy with something else.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

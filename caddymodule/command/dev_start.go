package command

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"golang.org/x/crypto/bcrypt"

	"github.com/millrace/millrace/caddymodule/demo"
	"github.com/millrace/millrace/tokenstore"
)

//go:embed dev.Caddyfile
var devCaddyfile string

var devTemplate = template.Must(template.New("dev.Caddyfile").Parse(devCaddyfile))

// config returns the edge's configuration as JSON for Caddy.
func (d *devEdge) config(bind string) ([]byte, error) {
	quoted := func(s string) string {
		q, _ := caddyQuote(s) // makeDir and checkListeners refuse what cannot be quoted
		return q
	}
	var text bytes.Buffer
	hash, err := bcrypt.GenerateFromPassword([]byte(d.password), bcrypt.DefaultCost)
	if err != nil {
		return nil, err
	}
	err = devTemplate.Execute(&text, map[string]any{
		"Admin": quoted(d.admin), "Bind": bind,
		"HTTPPort": d.httpPort, "HTTPSPort": d.httpsPort,
		"Storage": quoted(d.storage()), "Tokens": quoted(d.tokens()), "Log": quoted(d.logFile()),
		"Operator": devOperator, "Hash": quoted(string(hash)),
	})
	if err != nil {
		return nil, err
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(text.Bytes(), map[string]any{"filename": "dev.Caddyfile"})
	return config, err
}

// checkListeners makes sure that the edge can listen on its ports; its error says what to
// change if not. It returns the addresses to bind to.
func (d *devEdge) checkListeners() (hosts []string, err error) {
	hosts = []string{"127.0.0.1"}
	if probe, err := net.Listen("tcp", "[::1]:0"); err == nil { // not every machine has IPv6
		probe.Close()
		hosts = append(hosts, "[::1]")
	}
	var probes []interface{ Close() error }
	defer func() {
		for _, p := range probes {
			p.Close()
		}
	}()
	try := func(flag, network, address string) error {
		var probe interface{ Close() error }
		var err error
		if network == "udp" {
			probe, err = net.ListenPacket(network, address)
		} else {
			probe, err = net.Listen(network, address)
		}
		if err == nil {
			probes = append(probes, probe)
			return nil
		}
		if errors.Is(err, syscall.EADDRINUSE) {
			_, port, _ := net.SplitHostPort(address)
			return fmt.Errorf("port %s is in use (%s %s): stop the program that uses it, or choose another port with %s", port, network, address, flag)
		}
		return fmt.Errorf("%w: choose another port with %s", err, flag)
	}
	for _, l := range []struct {
		flag     string
		port     int
		networks []string
	}{
		{"--https-port", d.httpsPort, []string{"tcp", "udp"}},
		{"--http-port", d.httpPort, []string{"tcp"}},
	} {
		if l.port < 1 || l.port > 65535 {
			return nil, usagef("%s: must be from 1 to 65535", l.flag)
		}
		for _, host := range hosts {
			for _, network := range l.networks {
				if err := try(l.flag, network, host+":"+strconv.Itoa(l.port)); err != nil {
					return nil, err
				}
			}
		}
	}
	admin, err := caddy.ParseNetworkAddress(d.admin)
	if _, ok := caddyQuote(d.admin); err != nil || !ok {
		return nil, usagef("--admin: must be like %s or unix//path", devAdmin)
	}
	if admin.IsUnixNetwork() {
		return hosts, nil
	}
	ip, err := netip.ParseAddr(admin.Host)
	if admin.Network != "tcp" || admin.Host != "localhost" && (err != nil || !ip.IsLoopback()) || admin.StartPort == 0 || admin.PortRangeSize() > 1 {
		return nil, usagef("--admin: must be a port on localhost, like %s, or unix//path: whoever reaches it has all rights", devAdmin)
	}
	return hosts, try("--admin", "tcp", admin.JoinHostPort(0))
}

const readyTimeout = 30 * time.Second

// awaitReady returns when the edge answers over HTTPS: its certificate is created only
// after the start.
func (d *devEdge) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	address := fmt.Sprintf("https://localhost:%d/ping", d.httpsPort)
	for {
		err := d.ping(ctx, address)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the edge does not answer at %s: %w; its log is %s", address, err, d.logFile())
		}
	}
}

// tlsConfig returns the configuration of a TLS client that trusts the edge's own
// authority.
func (d *devEdge) tlsConfig() (*tls.Config, error) {
	pem, err := os.ReadFile(d.rootFile())
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots}, nil
}

func (d *devEdge) ping(ctx context.Context, address string) error {
	config, err := d.tlsConfig()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}

// createFirstMaster creates a master token if the store has none, and returns it; else it
// returns the empty string.
func (d *devEdge) createFirstMaster(ctx context.Context) (string, error) {
	answer, err := callAdmin(ctx, d.admin, http.MethodGet, "/pubsub/master-tokens", nil)
	if err != nil {
		return "", err
	}
	var list struct {
		Masters []json.RawMessage `json:"master_tokens"`
	}
	if err := json.Unmarshal(answer, &list); err != nil || len(list.Masters) > 0 {
		return "", err
	}
	answer, err = callAdmin(ctx, d.admin, http.MethodPost, "/pubsub/master-tokens", tokenstore.MasterSpec{Name: "dev"})
	if err != nil {
		return "", err
	}
	var created struct {
		Token string `json:"token"`
	}
	err = json.Unmarshal(answer, &created)
	return created.Token, err
}

// issue issues an access token for all channels of the tenant demo. One without a subject
// cannot be present.
func (d *devEdge) issue(ctx context.Context, createdBy, subject string, lifetime time.Duration) (got issued, err error) {
	answer, err := callAdmin(ctx, d.admin, http.MethodPost, "/pubsub/tokens", tokenstore.IssueRequest{
		CreatedBy: createdBy, Subject: subject,
		Right: tokenstore.Right{
			TenantGrants: []tokenstore.TenantGrant{{
				TenantIDs: []string{demo.Tenant}, AllowChannelsPub: []string{"#"}, AllowChannelsSub: []string{"#"},
				AllowChannelsHistory: []string{"#"}, AllowChannelsPresence: []string{"#"},
			}},
			ExpiresIn: wholeSeconds(lifetime),
		},
	})
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(answer, &got)
}

// fromGoRun reports whether path is a binary that `go run` built and will delete.
func fromGoRun(path string) bool {
	if cache := os.Getenv("GOCACHE"); cache != "" && strings.HasPrefix(path, cache+string(filepath.Separator)) {
		return true
	}
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		if strings.HasPrefix(folder, "go-build") {
			return true
		}
	}
	return false
}

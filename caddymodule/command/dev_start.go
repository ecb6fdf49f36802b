package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"golang.org/x/crypto/argon2"

	"github.com/millrace/millrace/caddymodule/demo"
	"github.com/millrace/millrace/tokenstore"
)

// config returns the edge's configuration as JSON for Caddy.
func (d *devEdge) config(bind string) ([]byte, error) {
	quoted := func(s string) string {
		q, _ := caddyQuote(s) // makeDir and checkListeners refuse what cannot be quoted
		return q
	}
	var text bytes.Buffer
	err := edgeTemplates.ExecuteTemplate(&text, "dev.Caddyfile", map[string]any{
		"Admin": quoted(d.admin), "Bind": bind,
		"HTTPPort": d.httpPort, "HTTPSPort": d.httpsPort,
		"Storage": quoted(d.storage()), "Tokens": quoted(d.tokens()), "Histories": quoted(d.histories()), "Log": quoted(d.logFile()),
		"Operator": devOperator, "Hash": quoted(hashRandom(d.password)),
	})
	if err != nil {
		return nil, err
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(text.Bytes(), map[string]any{"filename": "dev.Caddyfile"})
	return config, err
}

// hashRandom returns the hash of a password, of the least work that a console takes: nobody
// can guess a password that is random, and a hash that takes long would delay the start.
func hashRandom(password string) string {
	const kib, iterations, threads = 7168, 1, 1
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // it never fails
	key := argon2.IDKey([]byte(password), salt, iterations, kib, threads, 32)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, kib, iterations, threads, encode(salt), encode(key))
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
		case <-time.After(5 * time.Millisecond):
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
	return d.createMaster(ctx)
}

// createMaster creates a master token without a prefix.
func (d *devEdge) createMaster(ctx context.Context) (string, error) {
	answer, err := callAdmin(ctx, d.admin, http.MethodPost, "/pubsub/master-tokens", tokenstore.MasterSpec{Name: "dev"})
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

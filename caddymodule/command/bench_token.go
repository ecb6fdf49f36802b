package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/internal/loadgen"
	"github.com/millrace/millrace/tokenstore"
)

// masterVariable holds the master token with which bench issues its own.
const masterVariable = "MILLRACE_MASTER_TOKEN"

var masterToken = regexp.MustCompile(`^MT_[0-9a-f]{32}_[0-9a-f]{32}$`)

// readBenchToken returns the token of the environment, where a master token goes first,
// or else the first line of stdin, which may be either kind.
func readBenchToken(cmd *cobra.Command) (token string, isMaster bool, err error) {
	if token = os.Getenv(masterVariable); token == "" {
		token = os.Getenv(tokenVariable)
	}
	if in := cmd.InOrStdin(); token == "" && !isTerminal(in) {
		token, err = bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", false, err
		}
	}
	token = strings.TrimSpace(token)
	switch {
	case masterToken.MatchString(token):
		return token, true, nil
	case accessToken.MatchString(token):
		return token, false, nil
	case token == "":
		return "", false, usagef("a token is required: a master token in $%s, an access token in $%s, or either as the first line of stdin", masterVariable, tokenVariable)
	}
	return "", false, usagef("$%s, $%s or stdin does not hold a token: MT_ or AT_, 32 hex digits, _, 32 more", masterVariable, tokenVariable)
}

// A benchToken is an access token that was issued for this run.
type benchToken struct {
	api           tokenAPI
	token, tenant string // the physical tenant
}

// benchSlack is how much longer than the run the token lives: connections take
// time to open, and to close.
const benchSlack = 15 * time.Minute

// issueBenchToken lets the edge issue a token for bench.# in the target's tenant, with
// limit as its caps, in KB/s.
func issueBenchToken(ctx context.Context, target *loadgen.EdgeTarget, master string, limit int, o loadgen.Options) (*benchToken, error) {
	api, err := newTokenAPI(target, master)
	if err != nil {
		return nil, err
	}
	rules := []string{"bench.#"}
	lifetime := min(o.Warmup+o.Duration+o.Settle+benchSlack, tokenstore.MaxLifetime)
	var got issued
	err = api.call(ctx, http.MethodPost, "/v1/get-token", tokenstore.IssueRequest{
		CreatedBy: "pubsub bench",
		Right: tokenstore.Right{
			TenantGrants:    []tokenstore.TenantGrant{{TenantIDs: []string{target.Tenant}, AllowChannelsPub: rules, AllowChannelsSub: rules}},
			IngressKBPerSec: &limit, EgressKBPerSec: &limit,
			ExpiresIn: wholeSeconds(lifetime),
		},
	}, &got)
	if err != nil {
		if strings.Contains(err.Error(), "_kb_per_sec") {
			err = fmt.Errorf("%w (--cap sets it)", err)
		}
		return nil, fmt.Errorf("issuing a token: %w", err)
	}
	own := &benchToken{api: api, token: got.Token}
	if own.tenant, err = api.tenant(ctx, got.TokenID); err != nil {
		return nil, errors.Join(fmt.Errorf("looking the token up: %w", err), own.revoke())
	}
	return own, nil
}

// revoke revokes the token, even if the run was interrupted.
func (t *benchToken) revoke() error {
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	return t.api.call(ctx, http.MethodDelete, "/v1/revoke-token", map[string]string{"token": t.token}, nil)
}

func (t *benchToken) revokeOrWarn(cmd *cobra.Command) {
	if err := t.revoke(); err != nil {
		cmd.PrintErrln("The token of this run could not be revoked; it expires by itself: " + err.Error())
	}
}

// A tokenAPI calls the REST API beside an edge's socket.
type tokenAPI struct {
	base, master string
	transport    *http.Transport
}

func newTokenAPI(target *loadgen.EdgeTarget, master string) (tokenAPI, error) {
	base := url.URL{Scheme: "https", Host: target.URL.Host}
	if target.URL.Scheme == "ws" {
		if !target.OnLoopback() {
			return tokenAPI{}, usagef("--url: a master token is sent to other machines only over TLS: use wss:// or https://, or an access token")
		}
		base.Scheme = "http"
	}
	return tokenAPI{base.String(), master, &http.Transport{ // no proxy: the token goes only to the edge that the user named
		TLSClientConfig: target.TLS.Clone(), DisableKeepAlives: true,
	}}, nil
}

// call makes one call, with body as JSON unless it is nil. It decodes the answer into
// into, unless that is nil.
func (a tokenAPI) call(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, content)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.master)
	req.Header.Set("Content-Type", "application/json")
	res, err := a.transport.RoundTrip(req) // follows no redirect
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return errors.New(strings.Replace(refusalText(res.StatusCode, answer), "the admin endpoint", "the token API", 1))
	case into == nil:
		return nil
	}
	return json.Unmarshal(answer, into)
}

// tenant returns the physical name of the only tenant of a token: the edge adds the
// master token's prefix, and its answer to get-token does not name it.
func (a tokenAPI) tenant(ctx context.Context, tokenID string) (string, error) {
	// A page starts after the id of its cursor: our token is the first one after the
	// number before it.
	number, ok := new(big.Int).SetString(tokenID, 16)
	if !ok {
		return "", errors.New("the edge answered with a token id that is not a number")
	}
	cursor := fmt.Sprintf("%032x", number.Sub(number, big.NewInt(1)))
	var page struct {
		Tokens []tokenstore.AccessInfo `json:"tokens"`
	}
	if err := a.call(ctx, http.MethodGet, "/v1/tokens?limit=1&cursor="+cursor, nil, &page); err != nil {
		return "", err
	}
	if len(page.Tokens) != 1 || page.Tokens[0].TokenID != tokenID || len(page.Tokens[0].Right.TenantGrants) != 1 ||
		len(page.Tokens[0].Right.TenantGrants[0].TenantIDs) != 1 {
		return "", errors.New("the edge does not list the token that it has just issued")
	}
	return page.Tokens[0].Right.TenantGrants[0].TenantIDs[0], nil
}

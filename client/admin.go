package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// TokenAdmin issues, refreshes, revokes and lists access tokens with a master
// token, which stays on servers. Safe for concurrent use.
//
// Its methods return an [*Error]: with the code and the status of the edge's
// refusal, such as ErrUnknownToken or ErrBadMasterToken, or ErrUnreachable,
// ErrTimeout or ErrBadOption; and the error of a context that was cancelled.
type TokenAdmin struct {
	origin string
	token  string
	http   *http.Client
}

// AdminOption changes how a [TokenAdmin] reaches the edge.
type AdminOption func(*adminOptions)

type adminOptions struct {
	tls       *tls.Config
	plaintext bool
	client    *http.Client
}

// WithTLS sets the certificates to trust and what else a TLS client can set.
func WithTLS(config *tls.Config) AdminOption {
	return func(o *adminOptions) { o.tls = config }
}

// WithPlaintext accepts http:// for hosts that are not on loopback, although the
// master token can be read on the way.
func WithPlaintext() AdminOption {
	return func(o *adminOptions) { o.plaintext = true }
}

// WithHTTPClient sends the requests with a client of the application: for a proxy,
// say. It is copied, and follows no redirects. WithTLS does not count then.
func WithHTTPClient(client *http.Client) AdminOption {
	return func(o *adminOptions) { o.client = client }
}

// NewTokenAdmin returns a TokenAdmin for the edge at address, an origin like
// https://edge.example.com. It connects with the first call. The error is
// ErrBadOption.
func NewTokenAdmin(address, masterToken string, opts ...AdminOption) (*TokenAdmin, error) {
	var o adminOptions
	for _, opt := range opts {
		opt(&o)
	}
	a, err := parseAddress(address, o.plaintext)
	if err != nil {
		return nil, err
	}
	if a.list != "" {
		return nil, badOption("the address of an edge has no path")
	}
	if err := checkToken(masterToken); err != nil {
		return nil, err
	}
	admin := &TokenAdmin{origin: a.origin, token: masterToken}
	if o.client != nil {
		own := *o.client
		own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		admin.http = &own
		return admin, nil
	}
	if o.tls == nil {
		o.tls = &tls.Config{}
	}
	admin.http = httpClient(o.tls)
	return admin, nil
}

// Issue issues a token.
func (a *TokenAdmin) Issue(ctx context.Context, r IssueRequest) (Issued, error) {
	body, err := r.body(time.Now())
	if err != nil {
		return Issued{}, err
	}
	var answer struct {
		Token     string    `json:"token"`
		TokenID   string    `json:"token_id"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	if err := a.call(ctx, http.MethodPost, "/v1/get-token", body, &answer); err != nil {
		return Issued{}, err
	}
	return Issued(answer), nil
}

// Refresh gives a valid token another expiry, and returns it as the edge has
// noted it. Connections with the token go on.
func (a *TokenAdmin) Refresh(ctx context.Context, tokenID string, e Expiry) (time.Time, error) {
	at, err := e.time(time.Now())
	if err != nil {
		return time.Time{}, err
	}
	body := struct {
		TokenID   string `json:"token_id"`
		ExpiresAt string `json:"expires_at"`
	}{tokenID, at}
	var answer struct {
		ExpiresAt time.Time `json:"new_expires_at"`
	}
	err = a.call(ctx, http.MethodPut, "/v1/refresh-token", body, &answer)
	return answer.ExpiresAt, err
}

// Revoke ends a token, given in full, for good: its connections close within a
// second. A token that has ended already is no error.
func (a *TokenAdmin) Revoke(ctx context.Context, token string) error {
	body := struct {
		Token string `json:"token"`
	}{token}
	return a.call(ctx, http.MethodDelete, "/v1/revoke-token", body, nil)
}

// List yields the tokens that the master token manages, in the order of their
// ids. It fetches a page when it is needed. An error is the last thing it yields.
func (a *TokenAdmin) List(ctx context.Context, o ListOptions) iter.Seq2[TokenInfo, error] {
	return func(yield func(TokenInfo, error) bool) {
		query := url.Values{}
		if o.PageSize != 0 {
			query.Set("limit", strconv.Itoa(o.PageSize))
		}
		if o.Tenant != "" {
			query.Set("tenant", o.Tenant)
		}
		for {
			path := "/v1/tokens"
			if len(query) > 0 {
				path += "?" + query.Encode()
			}
			var page struct {
				Tokens []tokenBody `json:"tokens"`
				Next   string      `json:"next_cursor"`
			}
			if err := a.call(ctx, http.MethodGet, path, nil, &page); err != nil {
				yield(TokenInfo{}, err)
				return
			}
			for _, t := range page.Tokens {
				if !yield(t.info(), nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("cursor", page.Next)
		}
	}
}

// maxAnswer is the longest answer that is read, in bytes: a page of 1,000 tokens
// with many grants each.
const maxAnswer = 64 << 20

// call makes a REST call. body is encoded as JSON unless it is nil; answer may be
// nil.
func (a *TokenAdmin) call(ctx context.Context, method, path string, body, answer any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return badOption("the request cannot be encoded")
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.origin+path, content)
	if err != nil {
		return badOption("the address is no URL")
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := a.http.Do(req)
	if err != nil {
		return transferError(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return refused(res)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return transferError(ctx, err)
	}
	if answer != nil && json.Unmarshal(text, answer) != nil { // its error could quote the answer
		return &Error{Code: CodeProtocol, Text: "the answer is not what an edge gives"}
	}
	return nil
}

func transferError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, "the edge does not answer in time")
	}
	return &Error{Code: CodeUnreachable, Err: err}
}

package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// TokenAdmin issues, refreshes, revokes and lists access tokens with a master
// token, which stays on servers. Safe for concurrent use.
//
// Its methods return an [*Error]: with the code and the status of the edge's
// refusal, such as ErrUnknownToken or ErrBadMasterToken, or ErrUnreachable,
// ErrTimeout or ErrBadOption; and the error of a context that was cancelled. The text
// of a refusal names what is wrong by the fields of this package, such as
// Grants[0].Subscribe[2].
type TokenAdmin struct {
	origins []string     // at least one
	good    atomic.Int32 // the index of the edge that answered last
	token   string
	http    *http.Client
	timeout time.Duration // for an edge behind which there is another one to ask
	logger  *slog.Logger  // nil: slog.Default, when it is needed
	said    sync.Map      // texts that were said
	count   atomic.Int32  // of them
}

// AdminOption changes how a [TokenAdmin] reaches the edge.
type AdminOption func(*adminOptions)

type adminOptions struct {
	further   []string
	tls       *tls.Config
	plaintext bool
	client    *http.Client
	proxy     string
	logger    *slog.Logger
}

// WithLogger is for what is said about tokens that are seldom meant so, once each. Default: slog.Default.
func WithLogger(logger *slog.Logger) AdminOption {
	return func(o *adminOptions) { o.logger = logger }
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

// WithProxy sends the requests through a forward proxy, by CONNECT. See [Options.Proxy], also for
// the default.
func WithProxy(url string) AdminOption {
	return func(o *adminOptions) { o.proxy = url }
}

// WithHTTPClient sends the requests with a client of the application. It is copied, and
// follows no redirects. WithTLS and WithProxy do not count then.
func WithHTTPClient(client *http.Client) AdminOption {
	return func(o *adminOptions) { o.client = client }
}

// WithFailover names further edges with the same tokens, by their origins. A call goes to
// the edge that answered last, first to that of [NewTokenAdmin], and to the next one if that
// does not answer within 10 s, or answers 502, 503, 504 or read_only; each is asked once.
// Of an edge that does not answer it is not known whether it carried the call out: then Issue may
// leave a second token, which nobody has got, and which ends with its expiry. The other
// calls can be repeated.
func WithFailover(addresses ...string) AdminOption {
	return func(o *adminOptions) { o.further = append(o.further, addresses...) }
}

// NewTokenAdmin returns a TokenAdmin for the edge at address, an origin like
// https://edge.example.com. It connects with the first call. The error is
// ErrBadOption.
func NewTokenAdmin(address, masterToken string, opts ...AdminOption) (*TokenAdmin, error) {
	var o adminOptions
	for _, opt := range opts {
		opt(&o)
	}
	admin := &TokenAdmin{token: masterToken, timeout: 10 * time.Second, logger: o.logger}
	for _, text := range append([]string{address}, o.further...) {
		a, err := parseAddress(text, o.plaintext)
		if err != nil {
			return nil, err
		}
		if a.list != "" {
			return nil, badOption("%s has a path: a TokenAdmin takes the origin of an edge, %s", a.list, a.origin)
		}
		admin.origins = append(admin.origins, a.origin)
	}
	if err := checkMaster(masterToken); err != nil {
		return nil, err
	}
	if o.client != nil {
		own := *o.client
		own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		admin.http = &own
		return admin, nil
	}
	if o.tls == nil {
		o.tls = &tls.Config{}
	}
	proxies, err := newProxies(o.proxy)
	if err != nil {
		return nil, err
	}
	admin.http = httpClient(dialer{machine, proxies, o.tls})
	return admin, nil
}

// Issue issues a token.
func (a *TokenAdmin) Issue(ctx context.Context, r IssueRequest) (IssuedToken, error) {
	body, err := r.body()
	if err != nil {
		return IssuedToken{}, err
	}
	said, err := checkGrants(r.Grants)
	if err != nil {
		return IssuedToken{}, err
	}
	a.say(said)
	var answer issuedBody
	if err := a.call(ctx, http.MethodPost, "/v1/get-token", body, &answer); err != nil {
		return IssuedToken{}, err
	}
	issued := IssuedToken{
		Token: answer.Token, TokenID: answer.TokenID, ExpiresAt: answer.ExpiresAt,
		ExpiresIn: time.Duration(answer.ExpiresIn) * time.Second, Clamped: answer.ExpiresIn < body.Right.In,
	}
	if issued.Clamped && issued.ExpiresIn > 0 {
		a.say(fmt.Sprintf("the edge has cut the lifetime of a token from %v to %v: see IssuedToken.Clamped", r.ExpiresIn, issued.ExpiresIn))
	}
	return issued, nil
}

// say says what is seldom meant, once.
func (a *TokenAdmin) say(text string) {
	if text == "" || a.count.Load() >= maxSaid {
		return
	}
	if _, said := a.said.LoadOrStore(text, true); said {
		return
	}
	a.count.Add(1)
	logger := a.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn("millrace: " + text)
}

// Refresh gives a valid token another expiry, and returns it as the edge has
// noted it. Connections with the token go on.
func (a *TokenAdmin) Refresh(ctx context.Context, tokenID string, e Expiry) (time.Time, error) {
	end, err := e.body()
	if err != nil {
		return time.Time{}, err
	}
	body := struct {
		TokenID string `json:"token_id"`
		expiryBody
	}{tokenID, end}
	var answer struct {
		ExpiresAt time.Time `json:"new_expires_at"`
	}
	err = a.call(ctx, http.MethodPut, "/v1/refresh-token", body, &answer)
	return answer.ExpiresAt, err
}

// Revoke ends a token, given in full, for good: its connections close within a
// second. A token that has ended already is no error.
func (a *TokenAdmin) Revoke(ctx context.Context, token string) error {
	if err := checkToken(token); err != nil {
		return badOption("Revoke takes a whole token (AT_…), and RevokeByID the id of one")
	}
	body := struct {
		Token string `json:"token"`
	}{token}
	return a.call(ctx, http.MethodDelete, "/v1/revoke-token", body, nil)
}

// RevokeByID is [TokenAdmin.Revoke] by the id of a token, which Issue and List give.
func (a *TokenAdmin) RevokeByID(ctx context.Context, tokenID string) error {
	if tokenID == "" || strings.Trim(tokenID, "0123456789abcdef") != "" {
		if strings.HasPrefix(tokenID, accessPrefix) {
			return badOption("this is a whole token: Revoke takes it, and RevokeByID the id that Issue and List give")
		}
		return badOption("the id of a token consists of hex digits")
	}
	return a.call(ctx, http.MethodDelete, "/v1/tokens/"+tokenID, nil, nil)
}

// RevokeSubject ends all tokens of a subject that the master token manages, and returns how many
// were valid until then: 0 is no error. All connections of the subject close within a second, also
// those with tokens that were issued while it ran. Tokens that are issued later are not concerned: do
// not issue any that the subject is not to have.
func (a *TokenAdmin) RevokeSubject(ctx context.Context, subject string) (int, error) {
	if subject == "" {
		return 0, badOption("a subject is not empty")
	}
	var answer struct {
		Revoked int `json:"revoked"`
	}
	err := a.call(ctx, http.MethodDelete, "/v1/tokens?"+encodeQuery(url.Values{"subject": {subject}}), nil, &answer)
	return answer.Revoked, err
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
		if o.Subject != "" {
			query.Set("subject", o.Subject)
		}
		for {
			path := "/v1/tokens"
			if len(query) > 0 {
				path += "?" + encodeQuery(query)
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

// encodeQuery writes a space as %20: a plus may mean itself or a space, and DELETE /v1/tokens refuses it.
func encodeQuery(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

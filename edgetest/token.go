package edgetest

import (
	"context"
	"strings"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/tokenstore"
)

// Tenant is the tenant of tokens that name no other.
const Tenant = "test"

// masterToken is that of [Edge.Admin].
var masterToken = "MT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)

// TokenOption says what a token permits.
type TokenOption func(*tokenstore.IssueRequest)

// grant is the token's one grant.
func grant(r *tokenstore.IssueRequest) *tokenstore.TenantGrant { return &r.Right.TenantGrants[0] }

// Publish permits to publish to the channels that match the rules.
func Publish(rules ...string) TokenOption {
	return func(r *tokenstore.IssueRequest) {
		grant(r).AllowChannelsPub = append(grant(r).AllowChannelsPub, rules...)
	}
}

// Subscribe permits to subscribe to the channels that match the rules.
func Subscribe(rules ...string) TokenOption {
	return func(r *tokenstore.IssueRequest) {
		grant(r).AllowChannelsSub = append(grant(r).AllowChannelsSub, rules...)
	}
}

// ReadHistory permits to read stored messages of the channels that match the rules, if
// Subscribe permits those.
func ReadHistory(rules ...string) TokenOption {
	return func(r *tokenstore.IssueRequest) {
		grant(r).AllowChannelsHistory = append(grant(r).AllowChannelsHistory, rules...)
	}
}

// SeePresence permits to see who is in the channels that match the rules.
func SeePresence(rules ...string) TokenOption {
	return func(r *tokenstore.IssueRequest) {
		grant(r).AllowChannelsPresence = append(grant(r).AllowChannelsPresence, rules...)
	}
}

// In names the tenants in place of [Tenant].
func In(tenants ...string) TokenOption {
	return func(r *tokenstore.IssueRequest) { grant(r).TenantIDs = tenants }
}

// Subject says whose token it is.
func Subject(name string) TokenOption { return func(r *tokenstore.IssueRequest) { r.Subject = name } }

// ExpiresIn sets how long the token is good, in whole seconds, at most 24 hours. Default: 1
// hour.
func ExpiresIn(d time.Duration) TokenOption {
	return func(r *tokenstore.IssueRequest) { r.Right.ExpiresAt = time.Now().Add(d).Format(time.RFC3339) }
}

// Right changes all else of a token, as its addresses and caps.
func Right(change func(*tokenstore.Right)) TokenOption {
	return func(r *tokenstore.IssueRequest) { change(&r.Right) }
}

// Token issues an access token, for all edges that joined this one. Without options it
// permits nothing but to connect. A request that breaks a rule ends the test.
func (e *Edge) Token(opts ...TokenOption) string {
	e.t.Helper()
	r := tokenstore.IssueRequest{CreatedBy: "edgetest", Right: tokenstore.Right{
		TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{Tenant}}},
	}}
	ExpiresIn(time.Hour)(&r)
	for _, opt := range opts {
		opt(&r)
	}
	issued, err := e.tokens.Issue(context.Background(), e.tokens.Overlay(), r)
	if err != nil {
		e.t.Fatal(err)
	}
	return issued.Token
}

// Revoke ends a token for good, and the connections with it.
func (e *Edge) Revoke(token string) {
	e.t.Helper()
	if _, err := e.tokens.Revoke(context.Background(), e.tokens.Overlay(), token); err != nil {
		e.t.Fatal(err)
	}
}

// Refresh moves the end of a token to d from now, in whole seconds.
func (e *Edge) Refresh(token string, d time.Duration) {
	e.t.Helper()
	id := strings.Split(token, "_")[1]
	if _, err := e.tokens.Refresh(context.Background(), e.tokens.Overlay(), id, tokenstore.Expiry{At: time.Now().Add(d).Format(time.RFC3339)}); err != nil {
		e.t.Fatal(err)
	}
}

// Admin returns an administration of tokens over the edge's REST API, with a master token.
func (e *Edge) Admin() *client.TokenAdmin {
	e.t.Helper()
	admin, err := client.NewTokenAdmin(e.URL(), masterToken, client.WithHTTPClient(e.HTTP()))
	if err != nil {
		e.t.Fatal(err)
	}
	return admin
}

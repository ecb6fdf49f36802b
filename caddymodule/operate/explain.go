package operate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

// explanation is all that an operator can know of whether a token allows something.
type explanation struct {
	tokenstore.Explanation
	Token  *explainedToken   `json:"token,omitempty"`  // nil: there is none
	Limits []pubsub.LimitUse `json:"limits,omitempty"` // that hold for its connections to this edge
}

// explainedToken is whose token it is, and who issued it.
type explainedToken struct {
	TokenID    string     `json:"token_id"`
	Status     string     `json:"status"`
	Subject    string     `json:"subject,omitempty"`
	CreatedBy  string     `json:"created_by"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	Tenants    []string   `json:"tenants"`               // the first 16
	Issuer     string     `json:"issuer,omitempty"`      // for whose share it counts; empty: the operator
	MasterID   string     `json:"master_id,omitempty"`   // empty: the admin API or the console issued it
	MasterName string     `json:"master_name,omitempty"` // empty: that master token is gone
}

func explain(live *app.Running, r *http.Request, body []byte) (any, error) {
	var q struct {
		TokenID  string `json:"token_id" empty:"refused"`
		Token    string `json:"token"    empty:"refused"`
		Action   string `json:"action"`
		Tenant   string `json:"tenant"   empty:"refused"`
		Channel  string `json:"channel"  empty:"refused"`
		IP       string `json:"ip"       empty:"refused"`
		Origin   string `json:"origin"   empty:"refused"`
		Protocol string `json:"protocol" empty:"refused"`
		Region   string `json:"region"   empty:"refused"`
	}
	if err := rest.DecodeStrict(body, &q); err != nil {
		return nil, err
	}
	query := tokenstore.Query{
		TokenID: q.TokenID, Token: q.Token, Action: q.Action, Tenant: q.Tenant, Channel: q.Channel,
		Origin: q.Origin, Protocol: q.Protocol, Region: q.Region,
	}
	if q.IP != "" {
		var err error
		if query.IP, err = netip.ParseAddr(q.IP); err != nil {
			return nil, invalid("ip", "must be an IP address")
		}
	}
	answer := explanation{Explanation: live.Service.Explain(r.Context(), query)}
	id := q.TokenID
	if q.Token != "" {
		id = tokenstore.TokenIDOf(q.Token)
	}
	if !tokenstore.IsID(id) {
		return answer, nil
	}
	if err := answer.describe(r.Context(), live, id, query.IP); err != nil {
		return nil, err
	}
	if q.Action == tokenstore.ActionConnect && answer.Allowed {
		answer.checkLimits()
	}
	return answer, nil
}

// describe adds what is known of a token.
func (e *explanation) describe(ctx context.Context, live *app.Running, id string, ip netip.Addr) error {
	info, err := live.Service.Describe(ctx, id)
	if errors.Is(err, tokenstore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	access := info.Access
	issuer := live.Service.IssuerOf(ctx, access)
	e.Token = &explainedToken{
		TokenID: id, Status: info.Status, Subject: info.Subject, CreatedBy: info.CreatedBy, CreatedAt: info.CreatedAt,
		ExpiresAt: info.ExpiresAt, RevokedAt: info.RevokedAt, Tenants: nonNil(access.Tenants),
		Issuer: issuer, MasterID: info.MasterID, MasterName: info.Master.Name,
	}
	e.Limits = live.Hub.LimitsFor(pubsub.Identity{
		TokenID: id, Tenants: access.Tenants, Subject: access.Subject, Issuer: issuer,
		IngressKB: access.IngressKBPerSec, EgressKB: access.EgressKBPerSec,
	}, pubsub.Client{IP: ip.Unmap()})
	return nil
}

// checkLimits refuses a connection that the token allows, if a limit of the edge is reached.
func (e *explanation) checkLimits() {
	for _, l := range e.Limits {
		if l.Limit > 0 && l.Used >= l.Limit {
			e.Allowed, e.Rule = false, "limits "+l.Name
			e.Reason = fmt.Sprintf("the token allows this connection, but this edge has as many as it may: %d of %d by %s", l.Used, l.Limit, l.Name)
			if l.Of != "" {
				e.Reason += ", of " + l.Of
			}
			return
		}
	}
}

package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/operate"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

const (
	liveTokenLifetime = 5 * time.Minute
	liveKBPerSec      = 1024 // caps of the tail, where the edge allows tokens as much
	revokeTimeout     = 10 * time.Second
)

// issueLiveToken is POST /live-token: an access token of minutes, for the page alone, that
// may subscribe to one pattern of one tenant, and for managers also publish there.
func (c *Console) issueLiveToken(w http.ResponseWriter, r *http.Request, v visit) {
	body, ok := operate.ReadBody(w, r)
	if !ok {
		return
	}
	var given struct {
		Tenant  string `json:"tenant"`
		Pattern string `json:"pattern"`
		Publish bool   `json:"publish"`
	}
	if err := rest.DecodeStrict(body, &given); err != nil {
		v.Answer(w, r, "", nil, err)
		return
	}
	switch {
	case c.Tail != "on":
		problem.Write(w, http.StatusNotFound, string(rest.CodeNotFound), "the live tail is switched off, `tail off`")
		return
	case given.Publish && v.role != Manager:
		problem.Write(w, http.StatusForbidden, "not_a_manager", "your role is viewer; only managers may publish")
		return
	case !c.state.mayTail(v.session.operator):
		w.Header().Set("Retry-After", "5")
		problem.Write(w, http.StatusTooManyRequests, string(rest.CodeTooManyRequests), "you have started too many live tails; wait some seconds")
		return
	}
	answer, open, err := c.mintLiveToken(r.Context(), v, given.Tenant, given.Pattern, given.Publish)
	o := hook.Operation{Name: "live_tail", Actor: v.Actor, IP: v.IP, Status: http.StatusOK}
	if err != nil {
		p := operate.ProblemFor(c.app, err)
		o.Status, o.Code = p.Status, p.Code
		v.Running.Hub.Operated(o)
		rest.WriteProblem(w, p)
		return
	}
	if !open {
		problem.Write(w, http.StatusUnauthorized, "no_session", "sign in: the session has ended")
		return
	}
	o.TokenID, o.Tenants, o.ExpiresAt, o.Pattern = answer.TokenID, answer.Tenants, answer.ExpiresAt, given.Pattern
	v.Running.Hub.Operated(o)
	operate.WriteJSON(w, answer)
}

// mintLiveToken issues a live token, which ends with the session: by its lifetime where that
// ends by itself, else because it is revoked. open is false if the session has ended in the
// meantime.
func (c *Console) mintLiveToken(ctx context.Context, v visit, tenant, pattern string, publish bool) (answer rest.IssueAnswer, open bool, err error) {
	grant := tokenstore.TenantGrant{TenantIDs: []string{tenant}, AllowChannelsSub: []string{pattern}}
	if publish {
		grant.AllowChannelsPub = []string{pattern}
	}
	expires := c.state.now().Add(liveTokenLifetime)
	for _, end := range []time.Time{v.session.idleAt(), v.session.endsAt()} {
		if end.Before(expires) {
			expires = end
		}
	}
	kb := min(liveKBPerSec, c.app.MaxKBPerSec())
	service := v.Running.Service
	issued, err := service.Issue(ctx, service.Overlay(), tokenstore.IssueRequest{
		CreatedBy: "console:" + v.session.operator, Description: "live tail",
		Right: tokenstore.Right{
			TenantGrants: []tokenstore.TenantGrant{grant}, AllowedWSOrigin: []string{v.origin.String()},
			IngressKBPerSec: &kb, EgressKBPerSec: &kb,
			ExpiresAt: expires.UTC().Format(time.RFC3339),
		},
	})
	if err != nil {
		return answer, false, err
	}
	over, open := c.state.addLive(v.session.id, liveToken{issued.TokenID, publish, issued.ExpiresAt})
	c.revokeNow(service, over)
	return rest.Answer(issued), open, nil
}

// end ends a session with its live tails.
func (c *Console) end(v visit) {
	c.revokeNow(v.Running.Service, c.state.close(v.session.id))
}

// revokeNow revokes live tokens, also if the client that causes it goes away.
func (c *Console) revokeNow(service *tokenstore.Service, ids []string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), revokeTimeout)
	defer cancel()
	c.revoke(ctx, service, ids)
}

// revokeOrphans revokes the live tokens of sessions that a reload ended, once the app runs.
func (c *Console) revokeOrphans(ids []string) {
	ctx, cancel := context.WithTimeout(context.Background(), revokeTimeout)
	defer cancel()
	if running := c.app.Await(ctx); running != nil {
		c.revoke(ctx, running.Service, ids)
	}
}

// revoke revokes live tokens, the latest first. One that cannot be revoked ends by itself
// within liveTokenLifetime.
func (c *Console) revoke(ctx context.Context, service *tokenstore.Service, ids []string) {
	for _, id := range slices.Backward(ids) {
		err := service.RevokeByID(ctx, service.Overlay(), id)
		if err != nil && !errors.Is(err, tokenstore.ErrUnknownToken) {
			c.log.Error("a live tail could not be ended; its token expires within 5 minutes", zap.String("token_id", id), zap.Error(err))
		}
	}
}

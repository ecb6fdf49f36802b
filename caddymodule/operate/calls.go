package operate

import (
	"net/http"
	"time"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

// Calls are all calls, by method and path as for [http.ServeMux], below a path of whoever
// serves them. Nothing writes to it.
var Calls = map[string]Call{
	"GET /master-tokens": {"master_list", func(live *app.Running, r *http.Request, _ []byte) (any, error) {
		masters, err := live.Service.ListMasters(r.Context())
		return map[string]any{"master_tokens": nonNil(masters)}, err
	}},
	"POST /master-tokens": {"master_create", func(live *app.Running, r *http.Request, body []byte) (any, error) {
		var spec tokenstore.MasterSpec
		if err := rest.DecodeStrict(body, &spec); err != nil {
			return nil, err
		}
		m, token, err := live.Service.CreateMaster(r.Context(), spec)
		return withSecret{Master: m, Token: token}, err
	}},
	"PATCH /master-tokens/{id}": {"master_update", func(live *app.Running, r *http.Request, body []byte) (any, error) {
		var patch tokenstore.MasterPatch
		if err := rest.DecodeStrict(body, &patch); err != nil {
			return nil, err
		}
		return live.Service.UpdateMaster(r.Context(), r.PathValue("id"), patch)
	}},
	"POST /master-tokens/{id}/rotate": {"master_rotate", func(live *app.Running, r *http.Request, body []byte) (any, error) {
		revoke, err := revokeTokens(body)
		if err != nil {
			return nil, err
		}
		m, token, revoked, err := live.Service.RotateMaster(r.Context(), r.PathValue("id"), revoke)
		return withSecret{Master: m, Token: token, Revoked: revoked}, err
	}},
	"DELETE /master-tokens/{id}": {"master_delete", func(live *app.Running, r *http.Request, body []byte) (any, error) {
		revoke, err := revokeTokens(body)
		if err != nil {
			return nil, err
		}
		revoked, err := live.Service.DeleteMaster(r.Context(), r.PathValue("id"), revoke)
		return map[string]any{"id": r.PathValue("id"), "revoked_tokens": revoked}, err
	}},

	"GET /tokens": {"list", func(live *app.Running, r *http.Request, _ []byte) (any, error) {
		return rest.ListAll(r.Context(), live.Service, []byte(r.URL.RawQuery))
	}},
	"POST /tokens": {"issue", func(live *app.Running, r *http.Request, body []byte) (any, error) {
		return rest.Issue(r.Context(), live.Service, live.Service.Overlay(), body)
	}},
	"PUT /tokens/{id}": {"refresh", func(live *app.Running, r *http.Request, body []byte) (any, error) {
		var request struct {
			ExpiresAt string `json:"expires_at"`
			ExpiresIn *int64 `json:"expires_in"`
		}
		if err := rest.DecodeStrict(body, &request); err != nil {
			return nil, err
		}
		e := tokenstore.Expiry{At: request.ExpiresAt, In: request.ExpiresIn}
		life, err := live.Service.Refresh(r.Context(), live.Service.Overlay(), r.PathValue("id"), e)
		return refreshed{TokenID: r.PathValue("id"), NewExpiresAt: life.ExpiresAt, ExpiresIn: life.ExpiresIn}, err
	}},
	"DELETE /tokens/{id}": {"revoke", func(live *app.Running, r *http.Request, _ []byte) (any, error) {
		err := live.Service.RevokeByID(r.Context(), live.Service.Overlay(), r.PathValue("id"))
		return map[string]any{"token_id": r.PathValue("id")}, err
	}},
	"DELETE /tokens": {"revoke_subject", func(live *app.Running, r *http.Request, body []byte) (any, error) {
		subject, err := rest.SubjectOf(r.URL.RawQuery, body)
		if err != nil {
			return nil, err
		}
		return rest.RevokeSubject(r.Context(), live.Service, live.Service.Overlay(), subject)
	}},
	"POST /explain": {"", explain},

	"GET /overview":                        {"", showOverview},
	"GET /edges":                           {"", showEdges},
	"POST /edges/{edge}/drain":             {"drain", drainEdge},
	"DELETE /edges/{edge}/drain":           {"undrain", undrainEdge},
	"GET /connections":                     {"", listConnections},
	"GET /refused":                         {"", listRefused},
	"GET /connections/{edge}/{connection}": {"", showConnection},
	"POST /connections/disconnect":         {"disconnect", disconnect},
}

// withSecret is a master token with its secret, which is shown only once.
type withSecret struct {
	tokenstore.Master
	Token   string `json:"token"`
	Revoked int    `json:"revoked_tokens,omitempty"`
}

// refreshed is an access token with its new end.
type refreshed struct {
	TokenID      string    `json:"token_id"`
	NewExpiresAt time.Time `json:"new_expires_at"`
	ExpiresIn    int64     `json:"expires_in"` // the seconds until then
}

func revokeTokens(body []byte) (bool, error) {
	var request struct {
		RevokeTokens bool `json:"revoke_tokens"`
	}
	err := rest.DecodeStrict(body, &request)
	return request.RevokeTokens, err
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

package adminapi

import (
	"net/http"
	"net/url"

	"github.com/millrace/millrace/caddymodule/operate"
)

// connections answers with all open connections of this edge; with a query, as the console
// does, with a page of those of all edges. The parameter all means nothing but that.
func connections(w http.ResponseWriter, r *http.Request, c operate.Caller) {
	if r.URL.RawQuery == "" {
		operate.WriteJSON(w, map[string]any{"connections": c.Running.Hub.Stats()})
		return
	}
	if query, err := url.ParseQuery(r.URL.RawQuery); err == nil && query.Get("all") == "true" {
		query.Del("all")
		r.URL.RawQuery = query.Encode()
	}
	operate.Calls["GET /connections"].Serve(w, r, c)
}

// drain drains this edge.
func drain(w http.ResponseWriter, r *http.Request, c operate.Caller) {
	if _, ok := operate.ReadBody(w, r); !ok {
		return
	}
	c.Running.Hub.Drain()
	operate.WriteJSON(w, map[string]any{"draining": true})
}

package handler

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore/rest"
)

func init() { caddy.RegisterModule(new(Edges)) }

// Edges lists the edges that clients can choose from, for those that then probe
// `/ping` of each: `{"edges":[{"host":"eu.example.com","region":"EU"}]}`.
type Edges struct {
	// Path that is answered. Default: `/edges`.
	Path string `json:"path,omitempty"`
	// List is a fixed list. Default: the edges that announce themselves over the
	// broker, which then has to be one that knows them.
	List []pubsub.Edge `json:"list,omitempty"`
	// AllowHosts are the hosts that are listed of those that edges announce: host
	// names and addresses, with a port if it is not 443, and names like `*.example.com`
	// for all with one label in place of the `*`. Clients send their tokens to the
	// hosts that are listed. Default: every announced one.
	AllowHosts []string `json:"allow_hosts,omitempty"`

	app *app.App
}

// CaddyModule implements [caddy.Module].
func (*Edges) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_edges", New: func() caddy.Module { return new(Edges) }}
}

// Provision implements [caddy.Provisioner].
func (h *Edges) Provision(ctx caddy.Context) (err error) {
	if h.app, err = provisionApp(ctx, h, &h.Path, "/edges"); err != nil {
		return err
	}
	for _, e := range h.List {
		if err := guest.CheckHost(e.Host); err != nil {
			return fmt.Errorf("edge %s: %w", e.Host, err)
		}
	}
	for _, host := range h.AllowHosts {
		if err := checkAllowedHost(host); err != nil {
			return fmt.Errorf("allow_hosts %s: %w", host, err)
		}
	}
	host, announced := h.app.AnnouncedHost()
	switch {
	case len(h.AllowHosts) == 0:
	case len(h.List) > 0:
		return errors.New("pubsub_edges: allow_hosts is for edges that announce themselves; with a list, the list alone holds")
	case announced && host != "" && !allowedHost(h.AllowHosts, host):
		return fmt.Errorf("allow_hosts: leaves out %s, which this edge announces", host)
	}
	if len(h.List) == 0 && !announced {
		return errors.New("pubsub_edges: this edge's broker knows no others: list them, `edge <host> [<region>]`, or use `broker nats`")
	}
	return nil
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (h *Edges) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if served, err := passThrough(w, r, h.Path, next); served {
		return err
	}
	defer guard.Own(r)()
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Timing-Allow-Origin", "*")
	header.Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", pingMethods)
		header.Set("Allow", pingMethods)
		w.WriteHeader(http.StatusNoContent)
		return nil
	default:
		header.Set("Allow", pingMethods)
		problem.Write(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: "+pingMethods)
		return nil
	}
	list := h.List
	if len(list) == 0 {
		live := h.app.Await(r.Context())
		if live == nil {
			problem.Starting(w)
			return nil
		}
		list = live.Edges()
		if len(h.AllowHosts) > 0 {
			list = slices.DeleteFunc(list, func(e pubsub.Edge) bool { return !allowedHost(h.AllowHosts, e.Host) })
		}
	}
	body, err := json.Marshal(struct {
		Edges []pubsub.Edge `json:"edges"`
	}{list})
	if err != nil {
		return err
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(body)
	return err
}

var (
	_ caddy.Provisioner           = (*Edges)(nil)
	_ caddyhttp.MiddlewareHandler = (*Edges)(nil)
)

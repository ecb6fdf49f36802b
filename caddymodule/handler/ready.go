package handler

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

func init() { caddy.RegisterModule(new(Ready)) }

// Ready tells load balancers and operators whether clients should come to this edge:
// 200 `ready`, behind which a line for each thing may follow that is wrong and keeps no
// client away, or 503 and a problem body that says why not.
type Ready struct {
	// Path that is answered. Default: `/ready`.
	Path string `json:"path,omitempty"`

	app *app.App
}

// CaddyModule implements [caddy.Module].
func (*Ready) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_ready", New: func() caddy.Module { return new(Ready) }}
}

// Provision implements [caddy.Provisioner].
func (h *Ready) Provision(ctx caddy.Context) (err error) {
	h.app, err = provisionApp(ctx, h, &h.Path, "/ready")
	return err
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (h *Ready) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if served, err := passThrough(w, r, h.Path, next); served {
		return err
	}
	defer guard.Own(r)()
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Allow", pingMethods)
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions: // the last one is what HAProxy asks with, unless told otherwise
	default:
		problem.Write(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: "+pingMethods)
		return nil
	}
	if all := troubles(h.app); len(all) > 0 {
		var details []string
		for _, t := range all {
			details = append(details, t.detail)
		}
		problem.Unavailable(w, strings.Join(details, "; "), all[0].code)
		return nil
	}
	body := strings.Join(append([]string{"ready"}, warnings(h.app)...), "\n")
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, err := io.WriteString(w, body)
	return err
}

// warnings are what is wrong with an edge that clients may come to.
func warnings(a *app.App) (list []string) {
	if !a.Running().Writable() {
		list = append(list, "the disk has no room for changes of tokens")
	}
	if storing, known := a.Storing(); known && !storing {
		list = append(list, "the embedded NATS server stores no tokens")
	}
	_, unusable, drift := a.Running().HistoryTroubles() // the log and `history list` say more
	if len(unusable) > 0 {
		list = append(list, "a history cannot be used: "+strings.Join(unusable, ", "))
	}
	if len(drift) > 0 {
		list = append(list, "a history is kept otherwise than this edge has configured: "+strings.Join(drift, "; "))
	}
	if q, known := a.Quorum(); known && len(q.Offline()) > 0 && q.Spare() <= 0 { // the log names them
		text := "%d of %d members of the cluster of the embedded NATS servers run: one more loss stops it"
		if q.Spare() < 0 {
			text = "%d of %d members of the cluster of the embedded NATS servers run: too few to store anything"
		}
		list = append(list, fmt.Sprintf(text, q.Running, len(q.Members)))
	}
	links := a.Running().LinkTroubles() // what they keep clients away for is in troubles
	if links["tokens"] != "" {
		list = append(list, because("tokens cannot be changed, and are checked by what is known", links["tokens"]))
	}
	if links["history"] != "" {
		list = append(list, because("histories are impaired", links["history"]))
	}
	return list
}

// trouble is why clients should not come to an edge.
type trouble struct{ code, detail string }

// available returns nil if there is room for a connection over each transport, or why there is none.
func available(a *app.App, live *app.Running) error {
	if err := live.Hub.Available(); err != nil {
		return err
	}
	transports := []string{tokenstore.ProtocolWebSocket, tokenstore.ProtocolWebTransport}
	if a.WebTransport == "off" {
		transports = transports[:1]
	}
	for _, transport := range transports {
		if err := live.Hub.AvailableFor(app.ConnectionCost(transport, true)); err != nil {
			return fmt.Errorf("%s: %w", transport, err)
		}
	}
	if live.IsMemoryShort() {
		return pubsub.ErrMemoryFull
	}
	return nil
}

// troubles are all there are now, the worst first. It waits for nothing.
func troubles(a *app.App) (list []trouble) {
	live := a.Running()
	if live == nil {
		return []trouble{{problem.CodeStarting, "the edge is starting"}}
	}
	switch err := available(a, live); {
	case errors.Is(err, pubsub.ErrDraining) || caddy.Exiting():
		list = append(list, trouble{"draining", "the edge drains"})
	case err != nil:
		list = append(list, trouble{"too_many_connections", err.Error()})
	}
	links := live.LinkTroubles()
	if live.Usable() != nil { // the log says more: strangers read this
		list = append(list, trouble{string(rest.CodeUnavailable), because("tokens cannot be checked", links["tokens"])})
	}
	if !live.Hub.IsLinked() {
		list = append(list, trouble{string(wire.CodeBrokerUnavailable), because("the link to the other edges is down", links["broker"])})
	}
	if out, _, _ := live.HistoryTroubles(); len(out) > 0 {
		list = append(list, trouble{string(wire.CodeHistoryUnavailable), "a history is out of reach: " + strings.Join(out, ", ")})
	}
	return list
}

// because adds the reason to what is wrong; empty: it is not known.
func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + ": " + reason
}

var (
	_ caddy.Provisioner           = (*Ready)(nil)
	_ caddyhttp.MiddlewareHandler = (*Ready)(nil)
)

package operate

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/overlay"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

func showEdges(live *app.Running, _ *http.Request, _ []byte) (any, error) {
	return map[string]any{"edges": live.Overlay().Edges()}, nil
}

func showOverview(live *app.Running, _ *http.Request, _ []byte) (any, error) {
	return map[string]any{"edges": live.Overlay().Overview()}, nil
}

// drained answers a drain of one edge, or an undrain. Like [disconnected], that is done, and hooks
// are called, also if the caller goes away.
type drained struct {
	Draining bool   `json:"draining"`
	Edge     string `json:"edge"`
}

func drainEdge(live *app.Running, r *http.Request, _ []byte) (any, error) {
	edge := r.PathValue("edge")
	return drained{true, edge}, live.Overlay().Drain(context.WithoutCancel(r.Context()), edge)
}

func undrainEdge(live *app.Running, r *http.Request, _ []byte) (any, error) {
	edge := r.PathValue("edge")
	return drained{false, edge}, live.Overlay().Undrain(context.WithoutCancel(r.Context()), edge)
}

func listConnections(live *app.Running, r *http.Request, _ []byte) (any, error) {
	query, err := connectionQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	return live.Overlay().Connections(r.Context(), query)
}

// connectionQuery reads the query of a list of connections.
func connectionQuery(raw string) (q overlay.Query, err error) {
	given, err := rest.Parameters(raw, "edge", "connection_id", "token_id", "subject", "tenant", "ip", "transport", "limited", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q.Edge, q.TokenID, q.Subject, q.Tenant = given["edge"], given["token_id"], given["subject"], given["tenant"]
	q.Transport, q.Cursor, q.Limited = given["transport"], given["cursor"], given["limited"] == "true"
	if q.Limit, err = limitOf(given, overlay.MaxLimit); err != nil {
		return q, err
	}
	if q.ID, err = connectionID(given); err != nil {
		return q, err
	}
	if ip, has := given["ip"]; has {
		if q.Network, err = network(ip); err != nil {
			return q, err
		}
	}
	switch {
	case q.TokenID != "" && !tokenstore.IsID(q.TokenID):
		return q, invalid("token_id", "must be 32 lower-case hex digits")
	case len(q.Subject) > tokenstore.MaxSubject:
		return q, invalid("subject", "must be at most "+strconv.Itoa(tokenstore.MaxSubject)+" bytes")
	case q.Transport != "" && q.Transport != tokenstore.ProtocolWebSocket && q.Transport != tokenstore.ProtocolWebTransport:
		return q, invalid("transport", "must be websocket or webtransport")
	case given["limited"] != "" && !q.Limited:
		return q, invalid("limited", "must be true, or not there")
	}
	return q, nil
}

// network reads an address or a CIDR.
func network(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		if ip, err := netip.ParseAddr(text); err == nil {
			ip = ip.Unmap().WithZone("")
			return netip.PrefixFrom(ip, ip.BitLen()), nil
		}
	} else if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.Masked(), nil
	}
	return netip.Prefix{}, invalid("ip", "must be an IP address or a CIDR like 192.0.2.0/24")
}

func showConnection(live *app.Running, r *http.Request, _ []byte) (any, error) {
	id, err := strconv.ParseUint(r.PathValue("connection"), 10, 64)
	if err != nil {
		return nil, overlay.ErrUnknownConnection
	}
	return live.Overlay().Connection(r.Context(), r.PathValue("edge"), id)
}

// disconnected answers the call that closes connections.
type disconnected struct {
	overlay.Disconnected
	target overlay.Target
}

func disconnect(live *app.Running, r *http.Request, body []byte) (any, error) {
	var given struct {
		Edge    string `json:"edge"     empty:"refused"`
		ID      uint64 `json:"id"`
		TokenID string `json:"token_id" empty:"refused"`
	}
	if err := rest.DecodeStrict(body, &given); err != nil {
		return nil, err
	}
	switch {
	case (given.ID == 0) == (given.TokenID == ""):
		return nil, invalid("body", "must have either id, of a connection of edge, or token_id")
	case given.ID != 0 && given.Edge == "":
		return nil, invalid("edge", "must name the edge of the connection")
	case given.TokenID != "" && !tokenstore.IsID(given.TokenID):
		return nil, invalid("token_id", "must be 32 lower-case hex digits")
	}
	target := overlay.Target{Edge: given.Edge, ID: given.ID, TokenID: given.TokenID}
	done, err := live.Overlay().Disconnect(context.WithoutCancel(r.Context()), target)
	return disconnected{done, target}, err
}

func invalid(path, reason string) error {
	return &tokenstore.InvalidError{Path: path, Reason: reason, Code: tokenstore.CodeInvalidBody}
}

// overlayProblem is the answer for an error of the overlay; false: it is another error.
func overlayProblem(err error) (p rest.Problem, ok bool) {
	var silent *overlay.NoAnswerError
	switch {
	case errors.Is(err, overlay.ErrUnknownEdge):
		return rest.Problem{Status: http.StatusNotFound, Code: "unknown_edge", Detail: err.Error()}, true
	case errors.Is(err, overlay.ErrAmbiguousEdge):
		return rest.Problem{Status: http.StatusConflict, Code: "ambiguous_edge", Detail: err.Error()}, true
	case errors.Is(err, overlay.ErrUnknownConnection):
		return rest.Problem{Status: http.StatusNotFound, Code: "unknown_connection", Detail: err.Error()}, true
	case errors.Is(err, overlay.ErrUnknownRequest):
		return rest.Problem{Status: http.StatusNotImplemented, Code: "unknown_request", Detail: err.Error()}, true
	case errors.Is(err, pubsub.ErrStopping):
		return rest.Problem{Status: http.StatusConflict, Code: "stopping", Detail: err.Error()}, true
	case errors.Is(err, overlay.ErrNotAllowed):
		return rest.Problem{Status: http.StatusForbidden, Code: "not_allowed_there", Detail: err.Error()}, true
	case errors.Is(err, overlay.ErrBadCursor):
		return rest.Problem{Status: http.StatusBadRequest, Code: "invalid_body", Detail: "cursor: " + err.Error()}, true
	case errors.As(err, &silent):
		return rest.Problem{Status: http.StatusGatewayTimeout, Code: "edge_unanswering", Detail: err.Error()}, true
	}
	return p, false
}

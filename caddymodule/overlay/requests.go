package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/refusals"
	"github.com/millrace/millrace/wire"
)

// Why an edge does not do what it is asked to. All but [NoAnswerError] may be wrapped.
var (
	ErrUnknownEdge       = errors.New("there is no such edge in the overlay")
	ErrAmbiguousEdge     = errors.New("several edges of the overlay have this name; use the ID of one")
	ErrUnknownConnection = errors.New("there is no such connection at this edge")
	ErrNotAllowed        = errors.New("the edge does not let operators of other edges do this (remote_operators)")
	ErrBadCursor         = errors.New("the cursor is not one of this list, or its edge is gone; begin with the first page")
	ErrUnknownRequest    = errors.New("the edge does not know this request; it may be of an older version")
	errBadRequest        = errors.New("the edge does not understand the request")
	errBadAnswer         = errors.New("malformed answer")
)

// NoAnswerError says that an edge did not answer.
type NoAnswerError struct {
	Edge string // its name
	Err  error  // of the broker
}

// Error implements error.
func (e *NoAnswerError) Error() string { return fmt.Sprintf("edge %s: %s", e.Edge, noAnswer(e.Err)) }

// Unwrap returns the broker's error.
func (e *NoAnswerError) Unwrap() error { return e.Err }

// noAnswer says for people why an edge did not answer.
func noAnswer(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("did not answer within %v", Patience)
	}
	return err.Error()
}

// The kinds of requests. Edges of other versions may not know them all.
const (
	kindOverview    = "overview"
	kindStatus      = "status"
	kindConnections = "connections"
	kindConnection  = "connection"
	kindRefused     = "refused"
	kindDisconnect  = "disconnect"
	kindDrain       = "drain"
	kindUndrain     = "undrain"
)

// request is what one edge asks another: JSON, whose args belong to the kind.
type request struct {
	Kind string          `json:"kind"`
	Args json.RawMessage `json:"args,omitempty"`
}

// reply answers it: Error is one of replyErrors, or else there is a result.
type reply struct {
	Error  string          `json:"error,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// replyErrors are the errors that edges tell each other, by their codes.
var replyErrors = map[string]error{
	"unknown_connection": ErrUnknownConnection,
	"not_allowed":        ErrNotAllowed,
	"unknown_request":    ErrUnknownRequest,
	"stopping":           pubsub.ErrStopping,
	"bad_request":        errBadRequest,
}

// listArgs are those of kindConnections.
type listArgs struct {
	ConnectionID wire.ConnectionID `json:"connection_id,omitzero"`
	TokenID      string            `json:"token_id,omitempty"`
	Subject      string            `json:"subject,omitempty"`
	Tenant       string            `json:"tenant,omitempty"`
	Network      netip.Prefix      `json:"network,omitzero"`
	Transport    string            `json:"transport,omitempty"`
	Limited      bool              `json:"limited,omitempty"`
	After        uint64            `json:"after,omitempty"`
	Limit        int               `json:"limit"`
}

// oneArgs are those of kindConnection and kindDisconnect: a connection, or all of a token.
type oneArgs struct {
	ID      uint64 `json:"id,omitempty"`
	TokenID string `json:"token_id,omitempty"`
}

// ended answers kindDisconnect.
type ended struct {
	Disconnected int `json:"disconnected"`
}

// overviewResult answers kindOverview.
type overviewResult struct {
	Status  Status  `json:"status"`
	Samples Samples `json:"samples"`
	Recent  Reasons `json:"recent"`
}

// do carries out a request at this edge.
func (o *Overlay) do(kind string, args any) (any, error) {
	switch a := args.(type) {
	case listArgs:
		return o.hub.Connections(pubsub.ConnectionFilter{
			ConnectionID: a.ConnectionID, TokenID: a.TokenID, Subject: a.Subject, Tenant: a.Tenant, Network: a.Network, Transport: a.Transport, Limited: a.Limited,
		}, a.After, min(a.Limit, MaxLimit)), nil
	case oneArgs:
		return o.doOne(kind, a)
	case refusedArgs:
		list, more := o.hub.Refusals(refusals.Filter(a.refusedFilter), min(a.Limit, MaxLimit))
		return refusedPage{list, more}, nil
	}
	switch kind {
	case kindStatus:
		return o.source.Status(), nil
	case kindOverview:
		samples, recent := o.recorder.recent()
		return overviewResult{o.source.Status(), samples, recent}, nil
	case kindDrain:
		o.hub.Drain()
		return struct{}{}, nil
	case kindUndrain:
		return struct{}{}, o.hub.Undrain()
	}
	return nil, ErrUnknownRequest
}

func (o *Overlay) doOne(kind string, a oneArgs) (any, error) {
	if kind == kindConnection {
		if detail, ok := o.hub.Connection(a.ID); ok {
			return detail, nil
		}
		return nil, ErrUnknownConnection
	}
	if a.TokenID != "" {
		return ended{o.hub.DisconnectToken(a.TokenID)}, nil
	}
	if !o.hub.Disconnect(a.ID) {
		return nil, ErrUnknownConnection
	}
	return ended{1}, nil
}

// answer answers another edge.
func (o *Overlay) answer(_ context.Context, from pubsub.Member, body []byte) []byte {
	var r request
	result, err := any(nil), strict(body, &r)
	if err == nil {
		result, err = o.answerTo(from, r)
	}
	code := ""
	if err != nil {
		code = "bad_request"
	}
	for known, e := range replyErrors {
		if errors.Is(err, e) {
			code = known
		}
	}
	var encoded json.RawMessage
	if err = nil; code == "" {
		encoded, err = fitting(result)
	}
	if err == nil {
		encoded, err = json.Marshal(reply{code, encoded})
	}
	if err != nil {
		panic("overlay: an answer that does not marshal: " + err.Error())
	}
	return encoded
}

// answerTo carries out what another edge asks, if the policy allows it. Hooks are notified of
// what changes something, here as at the edge whose operator asked.
func (o *Overlay) answerTo(from pubsub.Member, r request) (any, error) {
	var args any
	var err error
	changes := false
	switch r.Kind {
	case kindStatus, kindOverview:
	case kindDrain, kindUndrain:
		changes = true
	case kindConnections:
		var a listArgs
		err = strict(r.Args, &a)
		args = a
	case kindRefused:
		var a refusedArgs
		err = strict(r.Args, &a)
		args = a
	case kindConnection, kindDisconnect:
		var a oneArgs
		err = strict(r.Args, &a)
		args, changes = a, r.Kind == kindDisconnect
	default:
		return nil, ErrUnknownRequest
	}
	var result any
	switch policy := *o.policy.Load(); {
	case policy == Off, policy == View && changes:
		err = ErrNotAllowed
	case err != nil:
		err = errBadRequest
	default:
		result, err = o.do(r.Kind, args)
	}
	if changes {
		o.tellHooks(from, r.Kind, args, err)
	}
	return result, err
}

// tellHooks reports a change that another edge asked for.
func (o *Overlay) tellHooks(from pubsub.Member, kind string, args any, err error) {
	told := hook.Operation{Name: kind, Actor: "edge:" + nameOf(from, false), Status: http.StatusOK}
	if a, ok := args.(oneArgs); ok {
		told.Connection, told.TokenID = a.ID, a.TokenID
	}
	switch {
	case errors.Is(err, ErrNotAllowed):
		told.Status, told.Code = http.StatusForbidden, "not_allowed"
	case errors.Is(err, ErrUnknownConnection):
		told.Status, told.Code = http.StatusNotFound, "unknown_connection"
	case errors.Is(err, pubsub.ErrStopping):
		told.Status, told.Code = http.StatusConflict, "stopping"
	case err != nil:
		told.Status, told.Code = http.StatusBadRequest, "bad_request"
	}
	o.hub.Operated(told)
}

// fitting encodes an answer so that it fits into one of the broker: a list or the details
// of a connection have less where it is too large.
func fitting(result any) (json.RawMessage, error) {
	const room = pubsub.MaxAnswer - 1024 // for the reply around it
	for {
		encoded, err := json.Marshal(result)
		if err != nil || len(encoded) <= room {
			return encoded, err
		}
		page, isPage := result.(pubsub.ConnectionPage)
		detail, isDetail := result.(pubsub.ConnectionDetail)
		refused, isRefused := result.(refusedPage)
		switch {
		case isRefused && len(refused.Refused) > 1:
			result = refusedPage{refused.Refused[:len(refused.Refused)/2], true}
		case isPage && len(page.Connections) > 1:
			page.Connections = page.Connections[:len(page.Connections)/2]
			page.Next = page.Connections[len(page.Connections)-1].ID
			result = page
		case isDetail && len(detail.Patterns) > 0:
			n := len(detail.Patterns) / 2
			detail.MorePatterns += len(detail.Patterns) - n
			detail.Patterns = detail.Patterns[:n]
			result = detail
		default:
			return encoded, nil // the broker refuses it
		}
	}
}

// strict decodes one JSON value with no unknown members.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errBadRequest
	}
	return nil
}

// ask asks an edge, this one too, and waits for Patience at most.
func ask[T any](ctx context.Context, o *Overlay, m pubsub.Member, self bool, kind string, args any) (result T, err error) {
	if self {
		r, err := o.do(kind, args)
		if err != nil {
			return result, err
		}
		return r.(T), nil
	}
	body := request{Kind: kind}
	if args != nil {
		if body.Args, err = json.Marshal(args); err != nil {
			return result, err
		}
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	answer, err := o.requester.Request(ctx, m.ID, encoded)
	if err != nil {
		return result, &NoAnswerError{nameOf(m, false), err}
	}
	var r reply
	if err := json.Unmarshal(answer, &r); err != nil {
		return result, &NoAnswerError{nameOf(m, false), errBadAnswer}
	}
	if r.Error != "" {
		if known := replyErrors[r.Error]; known != nil {
			return result, known
		}
		return result, &NoAnswerError{nameOf(m, false), errBadAnswer}
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		return result, &NoAnswerError{nameOf(m, false), errBadAnswer}
	}
	return result, nil
}

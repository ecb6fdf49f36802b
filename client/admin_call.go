package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxAnswer is the longest answer that is read, in bytes: a page of 1,000 tokens
// with many grants each.
const maxAnswer = 64 << 20

// call makes a REST call. body is encoded as JSON unless it is nil; answer may be
// nil.
func (a *TokenAdmin) call(ctx context.Context, method, path string, body, answer any) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return badOption("the request cannot be encoded")
		}
	}
	var worst error
	first := int(a.good.Load())
	for i := range a.origins {
		at := (first + i) % len(a.origins)
		text, err := a.ask(ctx, method, a.origins[at]+path, encoded, i+1 < len(a.origins))
		if err == nil {
			a.good.Store(int32(at))                                   //nolint:gosec // an index of a short list
			if answer != nil && json.Unmarshal(text, answer) != nil { // its error could quote the answer
				return &Error{Code: CodeProtocol, Text: "the answer of " + a.origins[at] + " is not what a Millrace edge gives: check host and port, and that its site has the directive pubsub"}
			}
			return nil
		}
		if ctx.Err() != nil || !another(err) {
			return err
		}
		if e, ok := err.(*Error); worst == nil || ok && e.Status != 0 { //nolint:errorlint // ask returns nothing else
			worst = err // what an edge says, rather than that none answers
		}
	}
	return worst
}

// another reports whether another edge may do what this one did not.
func another(err error) bool {
	e, ok := err.(*Error) //nolint:errorlint // ask returns nothing else
	if !ok {
		return false
	}
	switch e.Status {
	case 0:
		return e.Code == CodeUnreachable
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return e.Code == "read_only"
}

// ask asks one edge, which has a time limit if there are others.
func (a *TokenAdmin) ask(ctx context.Context, method, url string, body []byte, others bool) ([]byte, error) {
	outer := ctx
	if others {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.timeout)
		defer cancel()
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return nil, badOption("the address is no URL")
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := a.http.Do(req)
	if err != nil {
		return nil, transferError(outer, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		e := refused(res)
		e.Text = adminWords.Replace(e.Text)
		if e.Code == "expires_at_out_of_range" {
			e.Text += "; here it is " + time.Now().UTC().Format(time.RFC3339)
		}
		return nil, e
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, transferError(outer, err)
	}
	return text, nil
}

func transferError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, "the edge does not answer in time")
	}
	return unreachable("the edge does not answer", err)
}

// adminWords makes of the members of JSON, as refusals name them, the fields of this package.
var adminWords = strings.NewReplacer(
	"right.tenant_grants", "Grants",
	"right.allow_ip_masks", "IPMasks",
	"right.allow_regions", "Regions",
	"right.allowed_ws_origin", "Origins",
	"right.allow_protocols", "Protocols",
	"right.ingress_kb_per_sec", "IngressKBps",
	"right.egress_kb_per_sec", "EgressKBps",
	"right.expires_at", "the expiry",
	"right.expires_in", "the expiry",
	"tenant_ids", "Tenants",
	"allow_channels_pub", "Publish",
	"allow_channels_sub", "Subscribe",
	"allow_channels_history", "History",
	"allow_channels_presence", "Presence",
	"created_by", "CreatedBy",
	"expires_at", "the expiry",
	"expires_in", "ExpiresIn",
	"token_id", "the id of the token",
	"subject: ", "Subject: ",
	"info: ", "Info: ",
)

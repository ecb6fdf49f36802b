package client

import (
	"bytes"
	"encoding/json"
	"time"
)

// Grant opens channels in tenants.
type Grant struct {
	Tenants   []string // exact names
	Publish   []string // rules, such as chat.* or #; empty: nothing may be published
	Subscribe []string // likewise
	History   []string // likewise: stored messages that may be read, of what may be subscribed to
	Presence  []string // likewise: who is present may be seen, by name
}

// IssueRequest says what a new token allows. Empty lists of masks, regions,
// origins and protocols set no limit.
type IssueRequest struct {
	CreatedBy   string // required, 1 to 256 bytes
	Description string // at most 512 characters

	// Subject says whose the token is, by any id of the application's: 1 to 128 bytes without control
	// characters. Subscribers with Options.Sender see it as [Message.Sender]; it is no secret.
	Subject string
	// Info is about the subject, for operators and hooks: what encodes to a JSON object of at most
	// 1,024 bytes, such as a struct, a map or json.RawMessage. nil: nothing.
	Info any

	// One of these is required. ExpiresIn is a second or more, without fractions, and does not
	// depend on the clock of this machine; more than 24 hours means 24 hours. ExpiresAt is at most 24 hours
	// ahead by the clock of the edge.
	ExpiresIn time.Duration
	ExpiresAt time.Time

	Grants    []Grant     // 1 to 64
	IPMasks   []string    // addresses and CIDRs
	Regions   []string    // of the edges that take it
	Origins   []string    // of web pages that may use it: scheme://host[:port], or null
	Protocols []Transport // that may be used

	// Caps of each connection in KiB a second; 0: the edge's default.
	IngressKBps, EgressKBps int
}

// IssuedToken is a new token. It is shown here and never again. As JSON it is what the edge has answered,
// which token providers of all SDKs understand.
type IssuedToken struct {
	Token     string
	TokenID   string
	ExpiresAt time.Time // by the clock of the edge
	// ExpiresIn is the time from the answer to then: pass it on, and not ExpiresAt, which others read
	// by other clocks. 0: the edge is of an earlier version.
	ExpiresIn time.Duration
	Clamped   bool // the edge has cut the lifetime that was asked for to its limit
}

// issuedBody is the answer to get-token.
type issuedBody struct {
	Token     string    `json:"token"`
	TokenID   string    `json:"token_id"`
	ExpiresAt time.Time `json:"expires_at"`
	ExpiresIn int64     `json:"expires_in,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (i IssuedToken) MarshalJSON() ([]byte, error) {
	return json.Marshal(issuedBody{i.Token, i.TokenID, i.ExpiresAt, int64(i.ExpiresIn / time.Second)})
}

// AccessToken returns what a TokenProvider gives.
func (i IssuedToken) AccessToken() AccessToken {
	return AccessToken{Token: i.Token, ExpiresIn: i.ExpiresIn, ExpiresAt: i.ExpiresAt}
}

// Expiry is when a token expires: one of the two, as [IssueRequest] has them.
type Expiry struct {
	In time.Duration
	At time.Time
}

// ListOptions select what [TokenAdmin.List] yields.
type ListOptions struct {
	Tenant   string // only tokens with a grant for this tenant; empty: all
	Subject  string // only tokens of this subject; empty: all
	PageSize int    // how many are fetched at a time, 1 to 1,000; 0: 100
}

// The values of TokenInfo.Status.
const (
	StatusValid   = "valid"
	StatusExpired = "expired"
	StatusRevoked = "revoked"
)

// TokenInfo describes a token without its secret.
type TokenInfo struct {
	TokenID     string
	CreatedBy   string
	Description string
	Subject     string          // empty: none
	Info        json.RawMessage // a JSON object; nil: none
	CreatedAt   time.Time
	ExpiresAt   time.Time
	RevokedAt   time.Time // zero: it is not revoked
	Status      string
	MasterID    string // of the master token that issued it; empty: the edge's operator did

	Grants                  []Grant // with the tenants as clients name them
	IPMasks                 []string
	Regions                 []string
	Origins                 []string
	Protocols               []Transport
	IngressKBps, EgressKBps int // 0: the edge's default
}

// rightBody is the JSON of what a token allows; docs/protocol.md, REST.
type rightBody struct {
	Grants      []grantBody `json:"tenant_grants"`
	IPMasks     []string    `json:"allow_ip_masks,omitempty"`
	Regions     []string    `json:"allow_regions,omitempty"`
	Origins     []string    `json:"allowed_ws_origin,omitempty"`
	Protocols   []Transport `json:"allow_protocols,omitempty"`
	IngressKBps int         `json:"ingress_kb_per_sec,omitempty"`
	EgressKBps  int         `json:"egress_kb_per_sec,omitempty"`
	expiryBody
}

// expiryBody is when a token is to expire, one of the two: a lifetime needs no clock.
type expiryBody struct {
	At string `json:"expires_at,omitempty"`
	In int64  `json:"expires_in,omitempty"` // seconds
}

type grantBody struct {
	Tenants   []string `json:"tenant_ids"`
	Publish   []string `json:"allow_channels_pub,omitempty"`
	Subscribe []string `json:"allow_channels_sub,omitempty"`
	History   []string `json:"allow_channels_history,omitempty"`
	Presence  []string `json:"allow_channels_presence,omitempty"`
}

type issueBody struct {
	CreatedBy   string          `json:"created_by"`
	Description string          `json:"description,omitempty"`
	Subject     string          `json:"subject,omitempty"`
	Info        json.RawMessage `json:"info,omitempty"`
	Right       rightBody       `json:"right"`
}

type tokenBody struct {
	TokenID     string          `json:"token_id"`
	CreatedBy   string          `json:"created_by"`
	Description string          `json:"description"`
	Subject     string          `json:"subject"`
	Info        json.RawMessage `json:"info"`
	CreatedAt   time.Time       `json:"created_at"`
	ExpiresAt   time.Time       `json:"expires_at"`
	RevokedAt   *time.Time      `json:"revoked_at"`
	Status      string          `json:"status"`
	MasterID    string          `json:"master_id"`
	Right       rightBody       `json:"right"`
}

// body returns the expiry as the REST calls want it.
func (e Expiry) body() (expiryBody, error) {
	switch {
	case (e.In == 0) == e.At.IsZero():
		if e.In == 0 {
			return expiryBody{}, badOption("the token has no end: give ExpiresIn, such as 15*time.Minute; 24 hours is the most")
		}
		return expiryBody{}, badOption("both ExpiresIn and ExpiresAt are given: keep ExpiresIn, which does not depend on the clock of this machine")
	case e.In == 0:
		return expiryBody{At: e.At.UTC().Format(time.RFC3339Nano)}, nil
	case e.In < time.Second:
		return expiryBody{}, badOption("ExpiresIn is %v: a token lives for a second or more, and 24 hours at most", e.In)
	}
	return expiryBody{In: int64(e.In / time.Second)}, nil
}

func (r IssueRequest) body() (issueBody, error) {
	end, err := Expiry{r.ExpiresIn, r.ExpiresAt}.body()
	if err != nil {
		return issueBody{}, err
	}
	info, err := infoBody(r.Info)
	if err != nil {
		return issueBody{}, err
	}
	right := rightBody{
		Grants: make([]grantBody, len(r.Grants)), IPMasks: r.IPMasks, Regions: r.Regions, Origins: r.Origins,
		Protocols: r.Protocols, IngressKBps: r.IngressKBps, EgressKBps: r.EgressKBps, expiryBody: end,
	}
	for i, g := range r.Grants {
		right.Grants[i] = grantBody(g)
	}
	return issueBody{r.CreatedBy, r.Description, r.Subject, info, right}, nil
}

// infoBody encodes what a request says about the subject.
func infoBody(info any) (json.RawMessage, error) {
	if info == nil {
		return nil, nil
	}
	body, err := json.Marshal(info) // compact
	if err != nil || !bytes.HasPrefix(body, []byte("{")) {
		return nil, badOption("Info is %T: it must be what encodes to a JSON object, such as a struct or a map", info)
	}
	return body, nil
}

func (t tokenBody) info() TokenInfo {
	info := TokenInfo{
		TokenID: t.TokenID, CreatedBy: t.CreatedBy, Description: t.Description, Subject: t.Subject, Info: t.Info,
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, Status: t.Status, MasterID: t.MasterID,
		IPMasks: t.Right.IPMasks, Regions: t.Right.Regions, Origins: t.Right.Origins, Protocols: t.Right.Protocols,
		IngressKBps: t.Right.IngressKBps, EgressKBps: t.Right.EgressKBps,
	}
	if t.RevokedAt != nil {
		info.RevokedAt = *t.RevokedAt
	}
	for _, g := range t.Right.Grants {
		info.Grants = append(info.Grants, Grant(g))
	}
	return info
}

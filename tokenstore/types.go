package tokenstore

import (
	"encoding/json"
	"net/netip"
	"time"
)

// An IssueRequest is the body of get-token.
type IssueRequest struct {
	CreatedBy   string `json:"created_by"`            // 1–256 bytes
	Description string `json:"description,omitempty"` // at most 512 characters

	// Subject is whose token it is, as the application names its users: 1 to 128 bytes of
	// UTF-8 without control characters. Empty: nobody's.
	Subject string `json:"subject,omitempty" empty:"refused"`
	// Info is what the application wants to know of the token again: a JSON object of at
	// most 1,024 bytes without insignificant space, nested at most 16 deep, in which no key
	// comes twice. The edge does not look into it. Empty: none.
	Info json.RawMessage `json:"info,omitempty"`

	Right Right `json:"right"`
}

// A Right is what an access token permits. Empty lists of masks, regions,
// origins or protocols set no limit.
type Right struct {
	TenantGrants    []TenantGrant `json:"tenant_grants"`               // 1–64
	AllowIPMasks    []string      `json:"allow_ip_masks,omitempty"`    // addresses and CIDRs
	AllowRegions    []string      `json:"allow_regions,omitempty"`     // of Config.Regions
	AllowedWSOrigin []string      `json:"allowed_ws_origin,omitempty"` // scheme://host[:port], null, or file://
	AllowProtocols  []string      `json:"allow_protocols,omitempty"`   // websocket, webtransport

	// Caps of each connection in KB/s (1 KB is 1,024 bytes), 1 to
	// Config.MaxKBPerSec. Nil: the edge default.
	IngressKBPerSec *int `json:"ingress_kb_per_sec,omitempty"`
	EgressKBPerSec  *int `json:"egress_kb_per_sec,omitempty"`

	// One of these, as [Expiry] has them. Of a token that is stored, ExpiresAt.
	ExpiresAt string `json:"expires_at,omitempty"`
	ExpiresIn *int64 `json:"expires_in,omitempty"`
}

// A TenantGrant opens channels in tenants. An empty rule list grants nothing.
type TenantGrant struct {
	TenantIDs        []string `json:"tenant_ids"`                   // 1–256 exact names
	AllowChannelsPub []string `json:"allow_channels_pub,omitempty"` // at most 256 rules
	AllowChannelsSub []string `json:"allow_channels_sub,omitempty"` // at most 256 rules

	// AllowChannelsHistory says which stored messages may be read, for what may also be
	// subscribed to; at most 256 rules, as for subscribing.
	AllowChannelsHistory []string `json:"allow_channels_history,omitempty"`

	// AllowChannelsPresence says where it may be seen who is present; at most 256 rules, as
	// for subscribing.
	AllowChannelsPresence []string `json:"allow_channels_presence,omitempty"`
}

// Issued is a freshly minted access token. Token is shown here and never again.
type Issued struct {
	Token   string
	TokenID string
	Lifetime
	Tenants []string // physical names of those that the right grants, each once, in its order
	Subject string   // of the request
}

// ListOptions select a page of [Service.List].
type ListOptions struct {
	Limit  int    // 1–1000; 0: 100
	Cursor string // where the page before ended; empty: the first page
	Tenant string // only tokens with a grant for this physical tenant; empty: all

	ID        string // only tokens whose id begins with these hex digits; empty: all
	CreatedBy string // only tokens with exactly this label; empty: all
	Subject   string // only tokens of exactly this subject; empty: all
	Status    string // only tokens that are StatusValid, StatusExpired or StatusRevoked now; empty: all
}

// The values of AccessInfo.Status.
const (
	StatusValid   = "valid"
	StatusExpired = "expired"
	StatusRevoked = "revoked"
)

// AccessInfo describes an access token without its secret.
type AccessInfo struct {
	TokenID     string          `json:"token_id"`
	CreatedBy   string          `json:"created_by"`
	Description string          `json:"description,omitempty"`
	Subject     string          `json:"subject,omitempty"`
	Info        json.RawMessage `json:"info,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	ExpiresAt   time.Time       `json:"expires_at"`
	RevokedAt   *time.Time      `json:"revoked_at,omitempty"`
	Status      string          `json:"status"`
	MasterID    string          `json:"master_id,omitempty"` // empty: issued through the local admin API
	Right       Right           `json:"right"`               // with the physical tenants
}

// A Connection is what an edge knows about a client that wants to connect.
type Connection struct {
	IP       netip.Addr // not valid: not known
	Origins  []string   // every value of the Origin header
	Protocol string     // ProtocolWebSocket or ProtocolWebTransport
	Region   string     // of this edge; empty: none is set
}

// The protocols that a token can be limited to.
const (
	ProtocolWebSocket    = "websocket"
	ProtocolWebTransport = "webtransport"
)

// An Event tells the holder of open connections that a token changed.
type Event struct {
	TokenID   string
	Revoked   bool      // revoked or removed: it ends now
	ExpiresAt time.Time // the new end, after a refresh
	Version   uint64    // grows with every change of this token; compare with Access.Version
}

// The actions of a [Query].
const (
	ActionPublish   = "publish"
	ActionSubscribe = "subscribe"
	ActionHistory   = "history"  // a subscription that begins in the past
	ActionPresence  = "presence" // to see who is present
	ActionConnect   = "connect"
)

// A Query asks [Service.Explain] about one action of one token.
//
// For connect, an attribute of the connection that is left empty counts as unknown. For
// the other actions only the attributes that are given are checked.
type Query struct {
	TokenID string  // the token; or:
	Token   string  // the whole of it, whose secret is checked; or:
	Access  *Access // an authenticated token, which wins over both

	Action  string // ActionPublish, ActionSubscribe, ActionHistory, ActionPresence or ActionConnect
	Tenant  string // physical name; empty: "~", as on the socket
	Channel string // the channel of a publish, the pattern of a subscription

	IP       netip.Addr
	Origin   string
	Protocol string
	Region   string
}

// An Explanation answers a [Query].
type Explanation struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
	// Rule names the grant and the rule that decided by JSON path and text,
	// e.g. right.tenant_grants[0].allow_channels_pub[1] "a.#". Empty when no
	// rule decided.
	Rule string `json:"rule,omitempty"`
}

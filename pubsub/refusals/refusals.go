// Package refusals keeps what an edge has refused for its operators, fairly among those who pay
// for it: whoever is refused often pushes out what is their own, and nobody else's.
package refusals

import (
	"net/netip"
	"time"

	"github.com/millrace/millrace/wire"
)

// Refusal is a connection, a publish or a subscription that an edge refused. Its strings are for
// operators alone, and never hold a secret.
type Refusal struct {
	Time         time.Time         `json:"time"`
	ConnectionID wire.ConnectionID `json:"connection_id,omitzero"`
	Action       string            `json:"action"`           // connect, or a verb of the protocol in lower case: pub, sub, rsub, join or who
	Status       int               `json:"status,omitempty"` // of the HTTP answer, or the one that stands for the same reason
	Code         string            `json:"code"`             // as the client was told it
	Reason       string            `json:"reason"`           // the whole truth
	Rule         string            `json:"rule,omitempty"`   // that decided: of the token, a limit of the edge, or a hook; empty: none
	TokenID      string            `json:"token_id,omitempty"`
	Subject      string            `json:"subject,omitempty"` // of that token
	Verified     bool              `json:"verified"`          // the client has the secret of the token
	IP           netip.Addr        `json:"ip,omitzero"`
	Transport    string            `json:"transport"`
	Tenant       string            `json:"tenant,omitempty"` // of what an open connection was refused, like Channel
	Channel      string            `json:"channel,omitempty"`
}

// MaxText is how many bytes of a reason, and of a rule, are kept.
const MaxText = 512

// Cut returns the beginning of a text that is longer than MaxText.
func Cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	for i := MaxText; ; i-- {
		if text[i]&0xc0 != 0x80 { // the first byte of a character
			return text[:i] + "…"
		}
	}
}

// A payer is whose share a refusal counts for, from the widest to the narrowest.
const (
	strangers = "strangers"
	tokens    = "tokens"
)

// OfAddress is the payer of what somebody caused without the secret of a token: the network, and
// the address in it. Of an address that is not known, it is all strangers.
func OfAddress(ip netip.Addr) []string {
	if !ip.IsValid() {
		return []string{strangers}
	}
	ip = ip.Unmap().WithZone("")
	wide, narrow := 24, 32
	if ip.Is6() {
		wide, narrow = 48, 64
	}
	network, _ := ip.Prefix(wide)
	address, _ := ip.Prefix(narrow)
	return []string{strangers, network.String(), address.String()}
}

// OfToken is the payer of what a client caused who has the secret of a token: its issuer, the
// first of its tenants, and the token.
func OfToken(issuer string, tenants []string, tokenID string) []string {
	tenant := ""
	if len(tenants) > 0 {
		tenant = tenants[0]
	}
	return []string{tokens, issuer, tenant, tokenID}
}

// Filter says which refusals an operator wants to see. The zero value: all.
type Filter struct {
	ConnectionID wire.ConnectionID
	TokenID      string
	Subject      string
	Network      netip.Prefix // of the address; not valid: any
	Before       time.Time    // only older ones; zero: any
}

func (f *Filter) matches(r *Refusal) bool {
	return (f.ConnectionID == 0 || f.ConnectionID == r.ConnectionID) &&
		(f.TokenID == "" || f.TokenID == r.TokenID) &&
		(f.Subject == "" || f.Subject == r.Subject) &&
		(!f.Network.IsValid() || f.Network.Contains(r.IP.Unmap().WithZone(""))) &&
		(f.Before.IsZero() || r.Time.Before(f.Before))
}

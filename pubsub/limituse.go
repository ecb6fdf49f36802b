package pubsub

import "cmp"

// LimitUse is a limit that a connection meets, for operators.
type LimitUse struct {
	Name  string `json:"name"`            // as in the configuration or, in KiB/s, in a right
	Of    string `json:"of,omitempty"`    // whose it is, such as a tenant; empty: the edge's, or the connection's
	Limit int    `json:"limit,omitempty"` // 0: none
	Used  int    `json:"used,omitempty"`  // of connections: how many there are
}

// LimitsFor returns the limits that would hold for a connection of a token. Those of connections
// come first, in the order in which they are checked.
func (h *Hub) LimitsFor(id Identity, client Client) []LimitUse {
	l := h.limits.Load()
	half := func(own int) int {
		if own == 0 && l.MaxConnections == 0 {
			return 0
		}
		return shareOf(own, l.MaxConnections)
	}
	if len(id.Tenants) > MaxTenantsCounted {
		id.Tenants = id.Tenants[:MaxTenantsCounted]
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	uses := []LimitUse{{"max_connections", "", l.MaxConnections, len(h.sessions)}}
	own := 0
	if t := h.tokens[id.TokenID]; t != nil {
		own = t.own.used()
	}
	uses = append(uses, LimitUse{"max_connections_per_token", id.TokenID, half(l.MaxConnectionsPerToken), own})
	if most := h.issuerShareOf(l.MaxConnections, l); most > 0 {
		uses = append(uses, LimitUse{"issuer_share", id.Issuer, most, h.issuerAccounts[id.Issuer].used()})
	}
	for _, tenant := range id.Tenants {
		if id.Subject != "" && l.MaxConnectionsPerSubject > 0 {
			of := h.subjectAccounts[tenantSubject{tenant, id.Subject}]
			uses = append(uses, LimitUse{"max_connections_per_subject", id.Subject + " in " + tenant, l.MaxConnectionsPerSubject, of.used()})
		}
		uses = append(uses, LimitUse{"max_connections_per_tenant", tenant, half(l.MaxConnectionsPerTenant), h.tenantAccounts[tenant].used()})
	}
	if ip, counts := client.network(); counts {
		uses = append(uses, LimitUse{"max_connections_per_address", ip.String(), half(l.MaxConnectionsPerAddress), h.addressAccounts[ip].used()})
	}
	return append(uses,
		LimitUse{Name: "ingress_kb_per_sec", Limit: cmp.Or(id.IngressKB, l.DefaultIngressKB)},
		LimitUse{Name: "egress_kb_per_sec", Limit: cmp.Or(id.EgressKB, l.DefaultEgressKB)},
		LimitUse{Name: "max_subscriptions", Limit: l.MaxSubscriptions},
		LimitUse{Name: "max_payload", Limit: l.MaxPayload},
	)
}

// used is how many connections an account has.
func (a *account) used() int {
	if a == nil {
		return 0
	}
	return int(a.connections.Load())
}

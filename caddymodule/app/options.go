package app

// Bandwidth caps connections, tokens and tenants, in KB/s (1 KB is 1,024 bytes).
type Bandwidth struct {
	// DefaultIngress caps what a client sends where its token names no cap.
	// Default, and zero: 8.
	DefaultIngress int `json:"default_ingress,omitempty"`
	// DefaultEgress caps what a client receives where its token names no cap.
	// Default, and zero: 8.
	DefaultEgress int `json:"default_egress,omitempty"`
	// Max is the highest cap that a token may name. Default, and zero: 16384.
	Max int `json:"max,omitempty"`

	// TokenIngress caps what all connections of a token on this edge send together.
	// Default, and zero: no such cap.
	TokenIngress int `json:"token_ingress,omitempty"`
	// TokenEgress caps what they receive together. Default, and zero: no such cap.
	TokenEgress int `json:"token_egress,omitempty"`
	// TenantIngress caps what all clients of this edge publish to a tenant.
	// Default, and zero: no such cap.
	TenantIngress int `json:"tenant_ingress,omitempty"`
	// TenantEgress caps what they receive of it. Default, and zero: no such cap.
	TenantEgress int `json:"tenant_egress,omitempty"`
}

// Limits bound what clients may cost.
type Limits struct {
	// MaxPayload of a publish in bytes, 1 to 16 MiB. Default, and zero: 65536.
	MaxPayload int `json:"max_payload,omitempty"`
	// MaxSubscriptions of a connection, 1 to 65535. Default, and zero: 1024.
	MaxSubscriptions int `json:"max_subscriptions,omitempty"`
	// MaxPatternShapes of the patterns of a connection (docs/protocol.md, Lines):
	// with so many a message can come, and one more. Default, and zero: 32.
	MaxPatternShapes int `json:"max_pattern_shapes,omitempty"`
	// MaxPatternShapesPerTenant of the patterns of a tenant on this edge. Default,
	// and zero: 256.
	MaxPatternShapesPerTenant int `json:"max_pattern_shapes_per_tenant,omitempty"`
	// MaxPatterns, distinct ones, on this edge; no tenant and no token has more than
	// half of them. Default: 1000000. Zero: no limit.
	MaxPatterns *int `json:"max_patterns,omitempty"`
	// MaxPatternsPerTenant on this edge, at most half of max_patterns. Default, and zero:
	// that.
	MaxPatternsPerTenant int `json:"max_patterns_per_tenant,omitempty"`
	// MaxPatternsPerToken on this edge, of those that its connections were the first
	// to subscribe to, at most half of max_patterns. Default, and zero: that.
	MaxPatternsPerToken int `json:"max_patterns_per_token,omitempty"`
	// TenantShare is how much of the edge's processors, in percent, the messages of a
	// tenant may use while those of others come, too, 1 to 100. Default, and zero: 50.
	// 100: no limit.
	TenantShare int `json:"tenant_share,omitempty"`
	// IssuerShare is how much of the edge, in percent, the tokens of one issuer may take where there are
	// several, 1 to 100: of max_connections, max_patterns, queue_memory, right_memory, the members that the
	// edge knows and, while messages of other issuers' tokens come, the processors. An issuer is a
	// master token, or all of one tenant prefix. Default, and zero: 50. 100: no limit.
	IssuerShare int `json:"issuer_share,omitempty"`
	// MaxConnections of this edge. Default: 100000. Zero: no limit.
	MaxConnections *int `json:"max_connections,omitempty"`
	// MaxConnectionsPerToken on this edge. Default, and zero: half of
	// max_connections.
	MaxConnectionsPerToken int `json:"max_connections_per_token,omitempty"`
	// MaxConnectionsPerTenant on this edge. A connection counts for the first 16
	// tenants of its token. Default, and zero: half of max_connections.
	MaxConnectionsPerTenant int `json:"max_connections_per_tenant,omitempty"`
	// MaxConnectionsPerAddress on this edge: from one IPv4 address or IPv6 /64,
	// loopback and trusted proxies aside. Default, and zero: half of
	// max_connections.
	MaxConnectionsPerAddress int `json:"max_connections_per_address,omitempty"`
	// MaxConnectionsPerSubject on this edge: with tokens of one subject, in each of the
	// first 16 tenants of the token, so that subjects of different tenants do not count
	// together. Tokens without a subject are not concerned. Default, and zero: no limit.
	MaxConnectionsPerSubject int `json:"max_connections_per_subject,omitempty"`
	// SendQueue bounds the deliveries that wait for one client, in bytes; at
	// least the largest frame: max_payload, 65 KiB for the patterns that it
	// lists, and 2 for each of max_subscriptions. Default, and zero: 1048576.
	SendQueue int `json:"send_queue,omitempty"`
	// QueueMemory bounds the deliveries that wait for all clients, in bytes, those
	// of queues below 16 KiB aside. Those of one token, tenant or address get half
	// of it. At least twice send_queue. Default, and zero: a quarter of the memory
	// that GOMEMLIMIT allows, which Caddy sets to 90 % of what there is; 1 GiB
	// where there is no such limit.
	QueueMemory int `json:"queue_memory,omitempty"`
	// RightMemory bounds what the rights of all tokens that have connections on this edge
	// take in memory, in bytes: each about as much as its record in the store, once for all
	// its connections. Those of one tenant get half of it. Default, and zero: an eighth of
	// the memory that GOMEMLIMIT allows, and no more than 256 MiB.
	RightMemory int `json:"right_memory,omitempty"`
	// ConnectionMemory bounds what connections take in memory, in bytes, as they cost while
	// they are idle: 8 KiB over WebSocket, 20 KiB over WebSocket and TLS, 120 KiB over WebTransport.
	// Those of one token, tenant, address or issuer get as much of it as of max_connections. Default, and
	// zero: half of what GOMEMLIMIT allows beyond 64 MiB; no limit where there is no
	// GOMEMLIMIT.
	ConnectionMemory int `json:"connection_memory,omitempty"`
	// MaxTokensPerMaster is how many access tokens a master token may have issued
	// that are still in the store, until a day after they expire; for those that
	// have no `max_tokens` of their own. Default, and zero: no limit.
	MaxTokensPerMaster int `json:"max_tokens_per_master,omitempty"`
	// MaxTokenBytesPerMaster is how many bytes they may have in the store. Default,
	// and zero: no limit.
	MaxTokenBytesPerMaster int64 `json:"max_token_bytes_per_master,omitempty"`
	// MaxCallsPerMaster is how many calls a master token may make to this edge in a
	// second. Default, and zero: no limit.
	MaxCallsPerMaster int `json:"max_calls_per_master,omitempty"`
}

// Metrics switches on counts that cost more the more there is to count.
type Metrics struct {
	// Tenants that are counted by name, those that come first, at most 1000; all
	// others are counted together. Their names show wherever metrics do. Default,
	// and zero: none.
	Tenants int `json:"tenants,omitempty"`
}

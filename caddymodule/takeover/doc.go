// Package takeover serves the HTTP/3 of Caddy's servers in Caddy's place, on the
// same UDP port, so that WebTransport works on it.
//
// Caddy keeps its QUIC settings and its HTTP/3 server to itself, and they do not
// allow WebTransport. Its public fields do allow taking HTTP/3 from a server
// while it is provisioned, and [caddyhttp.Server] is a handler: so this package
// opens the UDP socket, with the server's certificates, and hands every request
// to the server, as Caddy would have (docs/decisions/0004-http3-takeover.md).
//
// A [Takeover] belongs to one configuration:
//
//	Claim    while handlers are provisioned: takes HTTP/3 from their servers
//	Start    opens the ports, or takes them over from the configuration before
//	Quiesce  leaves them; those that nobody else uses open no new session
//	Close    closes those
//
// Connections over HTTP/3 without a session are limited, and so are those over TCP, which Caddy
// serves: see [CountTCP].
//
// An [Entry] is what a handler needs to know of the port that a request came in
// by. When Caddy serves WebTransport itself, both can be deleted.
package takeover

// Package overlay is what the edges of an overlay tell and ask each other for their
// operators: how they are (status.go, recorder.go), which connections they have, and to
// disconnect these or to drain (requests.go, edges.go, connections.go). It knows neither
// Caddy nor HTTP.
//
// Requests go over the broker, where that is a [pubsub.Requester], and are as trustworthy
// as its messages; otherwise the overlay is this edge alone. An edge decides by its own
// [Policy] what operators of others may do there. One that does not answer is named in
// every answer, and holds up none for longer than Patience.
package overlay

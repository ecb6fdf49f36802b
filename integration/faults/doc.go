// Package faults tests the promises of edges during faults: edges with embedded NATS
// servers, each in a network namespace of its own, lose their network, their disk, their
// process or the time of day, while tokens are issued and revoked and messages are sent.
// A checker knows what was acknowledged.
//
// The namespaces need root. Without them the edges are on loopback, with proxies between
// them that drop and delay, and no disk is full. Run it by
// `scripts/soak.sh faults`; `make check` has a short form.
package faults

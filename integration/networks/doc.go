// Package networks measures what a user sees when a network breaks: a client of an SDK,
// in a network namespace of its own, gets 20 messages a second, and its edge dies, its
// path loses UDP, its address changes, or the like. docs/networks.md has the cases, their
// marks, and what came of them.
//
// Clients are of the SDK in Go, and of that in TypeScript in Node, Chromium and Firefox.
// `make check` plays each case once with the SDK in Go, `scripts/soak.sh networks` all of
// them. The namespaces take root.
package networks

// Package networks measures what a user sees when a network breaks: a client of an SDK,
// in a network namespace of its own, gets 20 messages a second, and its edge dies, its
// path loses UDP, its address changes, or the like. docs/networks.md has the cases, their
// marks, and what came of them.
//
// scripts/soak.sh networks plays all cases with the SDK in Go, and with that in TypeScript in
// Node, Chromium and Firefox, and asserts the marks. The short form plays what only networks
// can show with the SDK in Go, and asserts no times; package sdks has the rest. The namespaces
// take root.
package networks

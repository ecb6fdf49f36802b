// Package harness runs edges, which are processes of the built binary with a Caddyfile in a
// folder of their own, and talks to them over HTTP, WebSocket and WebTransport, with this
// repository's codec or with bytes written by hand. The packages beside it test with it, each
// one subject.
//
// Every edge is started by [StartEdge], listens on loopback, and is stopped when its test
// ends. A test that needs third-party clients (folder clients) fails with the command that
// installs them when they are missing.
package harness

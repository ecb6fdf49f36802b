// Package integration tests the millrace binary from outside: it builds the
// binary, runs it with a Caddyfile in a folder of its own, and talks to it
// over HTTP, WebSocket and WebTransport, with this repository's codec, with bytes
// written by hand, and with clients that are not ours (folder clients), including
// Chromium and Firefox.
//
// Whatever holds for sessions over every transport is a case of the table
// conformance, which [TestConformance] runs over each transport; a case opens its
// sessions by its [stage]. Tests of a single transport have files of their own.
//
// The SDKs are tested by the same commands wherever they run, see [sdkHost]: in drivers,
// which are programs of their own, for Go, Node and Python, and in pages of Chromium and
// Firefox. With MILLRACE_CLIENT the driver that it names takes their place; see [useClient]
// and docs/writing-a-client.md.
// [TestSDKs] plays scenarios with them, [TestConformanceThroughSDKs] some cases of
// the table conformance, [TestSDKDrains] and [TestSDKKills] end edges below them.
//
// Every edge is started by [startEdge], listens on loopback, and is stopped
// when its test ends. A test that needs the clients fails with the command
// that installs them when they are missing.
//
// The files fixture_*_test.go hold what several tests share, each one thing; all other
// files are named by what they test.
package integration

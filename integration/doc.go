// Package integration tests the millrace binary from outside: it builds the
// binary, runs it with a Caddyfile in a folder of its own, and talks to it
// over HTTP, WebSocket and WebTransport, with this repository's codec, with bytes
// written by hand, and with clients that are not ours (folder clients), Chromium
// and Firefox among them.
//
// What holds for sessions over every transport is a case of the table
// conformance, which [TestConformance] runs over each; a case opens its
// sessions by its [stage]. What is peculiar to one transport has files of its
// own.
//
// The SDKs are tested by the same commands wherever they run, see [sdkHost]: package
// client in this process, @millrace/client in Node and in pages of Chromium and Firefox.
// [TestSDKs] plays scenarios with them, [TestConformanceThroughSDKs] some cases of
// the table conformance, [TestSDKDrains] and [TestSDKKills] end edges below them.
//
// Every edge is started by [startEdge], listens on loopback, and is stopped
// when its test ends. A test that needs the clients fails with the command
// that installs them when they are missing.
package integration

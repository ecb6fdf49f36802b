// Package conformance has what docs/protocol.md says of sessions over every transport: the
// table [Cases], whose cases open their sessions by a [harness.Stage]. Its own test plays them
// on one edge, package cluster over two, and package sdks some of them through the SDKs.
package conformance

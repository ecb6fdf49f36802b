// Package wire is the protocol on the wire: names, text lines, binary frames,
// codes and limits. docs/protocol.md is the normative text.
//
// The package turns bytes into fields and back. It holds no state, opens no
// socket and decides nothing: who may do what, and what follows an error, is
// the session's business. Every function may be called from any goroutine.
//
// Decoders check structure only. The names inside are checked separately
// ([CheckTenant], [CheckChannel]), because a broken message and an illegal name have
// different answers and different consequences.
//
// Decoded byte slices alias the input: they are valid while the input is, and
// are for reading. Append functions add to dst and return it, as append does;
// each frame has a Len function that says how many bytes that will be.
//
// The files under testdata are language-neutral vectors: every implementation
// of the protocol reads the same ones.
package wire

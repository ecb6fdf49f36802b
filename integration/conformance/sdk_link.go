package conformance

import ()

// throughSDKs says for which clients of SDKs a case of the table conformance holds.
type throughSDKs int

const (
	None throughSDKs = iota
	all
	Told // those that are told why a handshake is refused
)

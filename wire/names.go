package wire

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Limits of names in bytes, except MaxTokens (docs/protocol.md, Names).
const (
	MaxTenant  = 128
	MaxChannel = 256
	MaxPattern = 256
	MaxTokens  = 32 // tokens in a channel or pattern
)

// MaxSender is how many bytes a sender may have, the subject of an access token.
const MaxSender = 128

// DefaultTenant is what an empty tenant on the socket means.
const DefaultTenant = "~"

var (
	errTenantLength   = &Error{CodeBadTenant, "a tenant has 1 to " + strconv.Itoa(MaxTenant) + " bytes"}
	errTenantByte     = &Error{CodeBadTenant, "a tenant consists of a-z A-Z 0-9 _ - ~ @ ."}
	errChannelLength  = &Error{CodeBadChannel, "a channel has 1 to " + strconv.Itoa(MaxChannel) + " bytes"}
	errChannelByte    = &Error{CodeBadChannel, "a channel token consists of a-z A-Z 0-9 _ - ~ @"}
	errChannelTokens  = &Error{CodeBadChannel, "a channel has at most " + strconv.Itoa(MaxTokens) + " tokens"}
	errChannelNoToken = &Error{CodeBadChannel, "a channel has no empty token"}
)

// nameBytes holds the bytes that a literal token may contain.
var nameBytes = func() (legal [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~@") {
		legal[c] = true
	}
	return legal
}()

// NameByte reports whether c may stand in a literal token. The dot, which
// separates tokens, may not.
func NameByte(c byte) bool { return nameBytes[c] }

// CheckTenant returns nil or an [Error] that is [ErrBadTenant]. Dots are plain
// characters in a tenant. An empty one is refused here: whoever reads a socket
// replaces it by [DefaultTenant] first (docs/protocol.md, Names).
func CheckTenant[T ~string | ~[]byte](t T) error {
	if len(t) == 0 || len(t) > MaxTenant {
		return errTenantLength
	}
	for i := range len(t) {
		if t[i] != '.' && !NameByte(t[i]) {
			return errTenantByte
		}
	}
	return nil
}

// CheckChannel returns nil or an [Error] that is [ErrBadChannel]
// (docs/protocol.md, Names).
func CheckChannel[T ~string | ~[]byte](c T) error {
	if len(c) == 0 || len(c) > MaxChannel {
		return errChannelLength
	}
	tokens, start := 1, 0
	for i := range len(c) {
		switch {
		case NameByte(c[i]):
		case c[i] != '.':
			return errChannelByte
		case i == start:
			return errChannelNoToken
		default:
			tokens, start = tokens+1, i+1
		}
	}
	if start == len(c) {
		return errChannelNoToken
	}
	if tokens > MaxTokens {
		return errChannelTokens
	}
	return nil
}

// IsSender reports whether b can be the sender of a message: empty, or a subject as tokens
// have it, which is up to [MaxSender] bytes of UTF-8 without control characters. It
// allocates nothing.
func IsSender(b []byte) bool {
	if len(b) > MaxSender {
		return false
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || unicode.IsControl(r) {
			return false
		}
		b = b[n:]
	}
	return true
}

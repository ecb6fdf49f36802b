package client

import (
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/wire"
)

// maxChannelToken is how long a token of [ChannelToken] may be, in bytes: four of
// them and what else is in a channel fit into the 256 bytes of a channel.
const maxChannelToken = 64

// ChannelToken makes of any text one token of a channel, a pattern or a rule: of a
// user's name, an address or a path, for example, which may hold dots, spaces or
// wildcards. Different texts give different tokens, and the token is the same in all
// SDKs. It is never empty and never a wildcard.
//
// The bytes that may stand in a token remain, except for the tilde: a-z A-Z 0-9 _ - @.
// Each other byte of the text, in UTF-8, becomes a tilde and two upper-case hex
// digits. The empty text becomes a tilde. Unicode is not normalised: texts that only
// look the same give different tokens.
//
// The error is [ErrBadOption]: the text is not valid UTF-8, or its token would be
// longer than 64 bytes.
func ChannelToken(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", badOption("a text for a channel's token must be valid UTF-8")
	}
	if text == "" {
		return "~", nil
	}
	var b strings.Builder
	for i := range len(text) {
		if b.Len() >= maxChannelToken {
			return "", errChannelToken
		}
		if c := text[i]; c != '~' && wire.NameByte(c) {
			b.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			b.WriteByte('~')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	if b.Len() > maxChannelToken {
		return "", errChannelToken
	}
	return b.String(), nil
}

var errChannelToken = badOption("a channel's token has at most %d bytes; each byte of the text but a-z A-Z 0-9 _ - @ needs three", maxChannelToken)

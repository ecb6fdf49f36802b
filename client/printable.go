package client

import (
	"strings"
	"unicode"
)

// printable is a text that came over the network, without control characters: a log or an error may show it on a
// terminal, which would obey them.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

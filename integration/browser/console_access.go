package browser

import (
	"strings"
)

// SecretOf is the part of a token that is secret.
func SecretOf(token string) string { return token[strings.LastIndexByte(token, '_')+1:] }

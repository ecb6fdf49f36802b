package harness

import (
	"encoding/hex"
	"regexp"
	"strings"
)

// Layers returns a text unchanged and with its percent-encodings decoded.
func Layers(text string) []string {
	var all []string
	for range 3 {
		all = append(all, strings.ToLower(text))
		if !percent.MatchString(text) {
			break
		}
		text = percent.ReplaceAllStringFunc(text, func(code string) string {
			c, _ := hex.DecodeString(code[1:]) // the expression allows nothing else
			return string(rune(c[0]))
		})
	}
	return all
}

// FindIn returns the surroundings of a secret in the layers of a text, or "".
func FindIn(layers []string, secret string) string {
	for _, text := range layers {
		if at := strings.Index(text, secret); at >= 0 {
			line, _, _ := strings.Cut(text[strings.LastIndexByte(text[:at], '\n')+1:], "\n")
			return line
		}
	}
	return ""
}

var percent = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

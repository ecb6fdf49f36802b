// Package natssubject writes tenants, channels and patterns as parts of NATS subjects, and reads
// them. Channels of one tenant never match what was made of another one.
package natssubject

import (
	"bytes"
	"strings"
)

// ChannelEnd is the last token of a subject that has a channel.
const ChannelEnd = ".="

// AppendChannel appends tenant and channel as they stand in a subject.
func AppendChannel(b, tenant, channel []byte) []byte {
	b = append(AppendTenant(b, tenant), '.')
	b = append(b, channel...)
	return append(b, ChannelEnd...)
}

// AppendTenant appends a tenant as it stands in a subject.
func AppendTenant(b, tenant []byte) []byte {
	at := len(b)
	b = append(b, tenant...)
	for i := at; i < len(b); i++ {
		if b[i] == '.' {
			b[i] = '='
		}
	}
	return b
}

// SplitChannel takes tenant and channel from the end of a subject. The tenant is
// changed in place.
func SplitChannel(b []byte) (tenant, channel []byte, ok bool) {
	b, ended := bytes.CutSuffix(b, []byte(ChannelEnd))
	tenant, channel, ok = bytes.Cut(b, []byte("."))
	for i, c := range tenant {
		if c == '=' {
			tenant[i] = '.'
		}
	}
	return tenant, channel, ok && ended && len(tenant) > 0 && len(channel) > 0
}

// OfPattern returns the end of the subject that matches all messages of a tenant
// that a pattern matches, and perhaps more.
func OfPattern(tenant, pattern string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(tenant, ".", "="))
	tail := false
	for token := range strings.SplitSeq(pattern, ".") {
		switch last := token[len(token)-1]; {
		case token == "#":
			b.WriteString(".>")
			tail = true
		case token == ">" || last == '#':
			b.WriteString(".*.>")
			tail = true
		case last == '>':
			b.WriteString(".*.*.>")
			tail = true
		case last == '*':
			b.WriteString(".*")
		default:
			b.WriteByte('.')
			b.WriteString(token)
		}
	}
	if !tail {
		b.WriteString(ChannelEnd)
	}
	return b.String()
}

// TenantFromToken reads a tenant as it stands in a subject.
func TenantFromToken(token string) string { return strings.ReplaceAll(token, "=", ".") }

package nats

import (
	"bytes"
	"strings"
)

// The kinds of subjects, after Broker.publishPrefix or Broker.subscribePrefix.
const (
	announcements = "a"
	queries       = "q."
	broadcasts    = "b."
	nearest       = "o."
)

// direct is the kind of subjects to one edge.
func direct(to edgeID) string { return "e." + to.String() + "." }

// channelEnd is the last token of a subject that has a channel.
const channelEnd = ".="

// appendChannel appends tenant and channel as they stand in a subject.
func appendChannel(b, tenant, channel []byte) []byte {
	b = append(appendTenant(b, tenant), '.')
	b = append(b, channel...)
	return append(b, channelEnd...)
}

// appendTenant appends a tenant as it stands in a subject.
func appendTenant(b, tenant []byte) []byte {
	at := len(b)
	b = append(b, tenant...)
	for i := at; i < len(b); i++ {
		if b[i] == '.' {
			b[i] = '='
		}
	}
	return b
}

// splitChannel takes tenant and channel from the end of a subject. The tenant is
// changed in place.
func splitChannel(b []byte) (tenant, channel []byte, ok bool) {
	b, ended := bytes.CutSuffix(b, []byte(channelEnd))
	tenant, channel, ok = bytes.Cut(b, []byte("."))
	for i, c := range tenant {
		if c == '=' {
			tenant[i] = '.'
		}
	}
	return tenant, channel, ok && ended && len(tenant) > 0 && len(channel) > 0
}

// interestSubject returns the end of the subject that matches all messages of a tenant
// that a pattern matches, and perhaps more.
func interestSubject(tenant, pattern string) string {
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
		b.WriteString(channelEnd)
	}
	return b.String()
}

// tenantFromToken reads a tenant as it stands in a subject.
func tenantFromToken(token string) string { return strings.ReplaceAll(token, "=", ".") }

// subscriptionTenant returns the tenant of a subscription to messages of one tenant, as it
// stands in the subject; otherwise "".
func (b *Broker) subscriptionTenant(subject string) string {
	rest := strings.TrimPrefix(subject, b.subscribePrefix)
	for _, kind := range []string{broadcasts, nearest} {
		if channels, ours := strings.CutPrefix(rest, kind); ours {
			tenant, _, _ := strings.Cut(channels, ".")
			return tenant
		}
	}
	return ""
}

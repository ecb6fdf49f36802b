package nats

import "strings"

// The kinds of subjects, after Broker.publishPrefix or Broker.subscribePrefix.
const (
	announcements = "a"
	queries       = "q."
	broadcasts    = "b."
	nearest       = "o."
)

// direct is the kind of subjects to one edge.
func direct(to edgeID) string { return "e." + to.String() + "." }

// requestsTo is the subject of requests to an edge.
func requestsTo(to edgeID) string { return "r." + to.String() }

// answersTo is the kind of subjects of answers to an edge.
func answersTo(to edgeID) string { return "w." + to.String() + "." }

// answerTo is the subject of the answer to an edge's request.
func answerTo(to edgeID, number uint64) string { return answersTo(to) + edgeID(number).String() }

// parseNumber reads a request's number as it ends the subject of an answer.
func parseNumber(text string) (uint64, bool) {
	var number edgeID // is written alike
	err := number.UnmarshalText([]byte(text))
	return uint64(number), err == nil
}

// splitRequestSubject takes a subject of a request or of an answer to this edge apart. kind
// is "r" or "w", rest what stands behind this edge's id.
func (b *Broker) splitRequestSubject(subject string) (from sender, kind, rest string, ok bool) {
	from, rest, ours := b.splitSender(subject)
	kind, rest, _ = strings.Cut(rest, ".")
	to, rest, _ := strings.Cut(rest, ".")
	return from, kind, rest, ours && to == b.id.String() && (kind == "r" && rest == "" || kind == "w" && rest != "")
}

// isRequestSubject reports whether a subscription is to requests, to answers, or to messages
// beside those of clients.
func (b *Broker) isRequestSubject(subject string) bool {
	rest := strings.TrimPrefix(subject, b.subscribePrefix)
	return rest == b.notices.to("") || rest == b.presence.to("") || rest == b.presence.to(b.id.String()) || rest == requestsTo(b.id) || strings.HasPrefix(rest, answersTo(b.id))
}

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

package client

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/millrace/millrace/wire"
)

// use is what an edge has refused.
type use uint8

const (
	toPublish use = iota
	toSubscribe
	toReadHistory
	toJoin
	toSeePresence
)

// uses are the words of each use: what the token may do, and which rules of a grant say so.
var uses = [...]struct{ may, grants string }{
	toPublish:     {"publish", "Publish"},
	toSubscribe:   {"subscribe", "Subscribe"},
	toReadHistory: {"read stored messages", "History"},
	toJoin:        {"join", "Subscribe"},
	toSeePresence: {"see who is present", "Presence"},
}

// reasons say what a code means, and what to do, where no more is known.
var reasons = map[wire.Code]string{
	wire.CodeTooManySubscriptions: "the connection has as many subscriptions as the edge allows: unsubscribe from some, or subscribe to a pattern that contains several of them",
	wire.CodeTooManyPatterns:      "this token, its tenant or its issuer has as many patterns as the edge allows: unsubscribe from some, or ask its operator for more",
	wire.CodeNoHistory:            "no history of the edge keeps all channels of it: add them to a history in the edge's configuration, or leave out WithHistory",
	wire.CodeTooManyChannels:      "the pattern matches too many channels for Last: subscribe to narrower patterns, or begin with Now or After",
	wire.CodeHistoryUnavailable:   "the history is out of reach for the edge, and nothing was stored: try again later",
	wire.CodeNoPresence:           "no presence of the edge contains it: its operator adds the channels to a presence",
	wire.CodeNoSubject:            "the token has no subject, which is needed to be present: issue it with Subject",
	wire.CodeTooManyMembers:       "as many members are present as the edge allows",
	wire.CodePayloadTooLarge:      "the payload is larger than the max_payload of the edge, 64 KiB by default: publish a link to the data, or raise max_payload",
	wire.CodeTryLater:             "the edge cannot do it now: try again later",
	wire.CodeNoSubscriber:         "nobody subscribes to it, and nobody has got the message: start a subscriber, or publish it again later",
	wire.CodeSubscribersBusy:      "those who subscribe to it take no more now, and nobody has got the message: publish it again later, or start more of them",
	wire.CodeUnconfirmed:          "an edge does not say what became of the message",
	wire.CodeBrokerUnavailable:    "the edge has lost the other edges: only its own subscribers get messages",
	wire.CodeUnauthorized:         "the edge does not accept the token",
}

// why says why an edge refused a use of a name, what is allowed, and what to do.
func why(u use, code Code, tenant, name string, d wire.Denial) string {
	if u == toPublish && wire.Code(code) == wire.CodeNoHistory {
		return "no history of the edge keeps the channel, so there a key does nothing: leave out WithKey, or add the channel to a history in the edge's configuration"
	}
	if wire.Code(code) != wire.CodePermissionDenied {
		return cmp.Or(reasons[wire.Code(code)], "the edge refused it")
	}
	may, grants := uses[u].may, uses[u].grants
	names := printable(strings.ReplaceAll(d.Names, ",", ", "))
	switch {
	case d.Kind == wire.DeniedBy:
		return "the operator of the edge refuses it, by a " + names
	case d.Kind == wire.DeniedTenants:
		text := fmt.Sprintf("the token is for the tenant %s, not for %s", names, tenant)
		if tenant == "~" {
			text += ", which the empty text stands for: name the tenant"
		}
		for full := range strings.SplitSeq(d.Names, ",") {
			if strings.HasSuffix(full, "."+tenant) {
				text += fmt.Sprintf(": did you mean %s? The prefix of the master token is part of the name", full)
			}
		}
		return text
	case d.Kind == wire.DeniedRules && d.Names == "":
		return fmt.Sprintf("the token may not %s at all in %s, so not in %s: issue it with a grant whose %s has that", may, tenant, name, grants)
	case d.Kind == wire.DeniedRules && u == toPublish:
		return fmt.Sprintf("the token may publish in %s only to %s, not to %s", tenant, names, name)
	case d.Kind == wire.DeniedRules:
		return fmt.Sprintf("the token may %s in %s only in %s, not in %s", may, tenant, names, name)
	}
	return fmt.Sprintf("the token may not %s in %s of %s: issue it with a grant whose %s has that", may, name, tenant, grants)
}

// nearest returns `: did you mean "…"?` with the most similar of some names; empty: none is.
func nearest(name string, names ...string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, n := range names {
		d := distance(strings.ToLower(name), n)
		if strings.HasPrefix(n, name) && name != "" {
			d = 1
		}
		if d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// distance counts the letters to insert, delete or replace to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

package client

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/millrace/millrace/wire"
)

// errorsPage explains each code.
const errorsPage = "https://github.com/millrace/millrace/blob/main/docs/errors.md#"

// maxSaid bounds what is said: an edge chooses the codes.
const maxSaid = 64

// loud is the handler of events where the application has none: it says what is lost or refused, once for
// each event and code.
type loud struct {
	logger *slog.Logger // nil: slog.Default, when it is needed
	said   map[string]bool
}

func (l *loud) event(e Event) {
	text, code, fields := complaint(e)
	if text == "" {
		return
	}
	about := fmt.Sprintf("%T %s", e, code)
	if l.said[about] || len(l.said) >= maxSaid {
		return
	}
	l.said[about] = true
	logger := l.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn("millrace: "+text, append(fields, "see", errorsPage+string(code))...)
}

// complaint returns what to say of an event, with its code and what it concerns; no text: nothing.
func complaint(e Event) (text string, code Code, fields []any) {
	switch e := e.(type) {
	case Connecting:
		code = codeOf(e.Err)
		text = "no edge can be reached; trying again until there is one, or the context ends"
		if code == CodeTokenProvider {
			text = "there is no token to connect with; asking the provider again until it gives one, or the context ends"
		}
		return text, code, []any{"code", code, "error", e.Err}
	case PublishError:
		return "the edge refused a publish: " + e.Text, e.Code, []any{"code", e.Code, "tenant", e.Tenant, "channel", e.Channel}
	case PublishUnknown:
		return "publishes may be lost with a connection; PublishConfirmed tells for sure", CodeOutcomeUnknown, []any{"count", e.Count, "edge", e.Edge}
	case SubscriptionError:
		return "the edge refused a subscription that it was to restore: " + e.Text, e.Code, []any{"code", e.Code, "tenant", e.Tenant, "pattern", e.Pattern + e.Channel}
	case EdgeError:
		what := reasons[wire.Code(e.Code)]
		if e.Err != nil {
			what = e.Err.Error()
		}
		if what != "" {
			what = ": " + what
		}
		return "the edge reports an error" + what, e.Code, []any{"code", e.Code, "detail", e.Detail}
	case Gap:
		return "messages of a history may be missing: " + gapTexts[e.Reason], "gap", []any{"reason", e.Reason, "tenant", e.Tenant, "pattern", e.Pattern}
	case QueueFull:
		return "messages were dropped: read faster, or raise WithQueue", CodeQueueFull, []any{"dropped", e.Dropped, "tenant", e.Tenant, "pattern", e.Pattern}
	case Discarded:
		return "messages to one subscriber were thrown away by Unsubscribe or Close: call Drain to have what has come given out", CodeQueueFull, []any{"count", e.Count, "tenant", e.Tenant, "pattern", e.Pattern}
	case SlowConsumer:
		return "the edge dropped messages for this client: it reads too slowly, or its token's egress_kb_per_sec is too low", "slow_consumer", []any{"dropped", e.Dropped}
	case Limited:
		if e.Direction == Out {
			return "publishes are late: they wait for the token's ingress_kb_per_sec, or for a cap of the edge", "ingress_limited", []any{"delay", e.Delay}
		}
		return "messages are late: they wait for the token's egress_kb_per_sec, or for a cap of the edge", "egress_limited", []any{"delay", e.Delay}
	case Closed:
		if e.Err != nil {
			code = codeOf(e.Err)
			return "the client has ended", code, []any{"code", code, "error", e.Err}
		}
	}
	return "", "", nil
}

// gapTexts say what each reason means, and what to do.
var gapTexts = map[GapReason]string{
	GapExpired:   "limits of the history have removed them; its operator may raise them",
	GapPurged:    "somebody has removed them",
	GapLate:      "they were later than the max_lag of the history allows",
	GapLost:      "the store of the edge has lost them",
	GapBehind:    "the edge cannot prove that none is",
	GapUnknown:   "the edge does not say why",
	GapNoRight:   "the token may not read the past: issue it with a grant whose History has the pattern",
	GapNoHistory: "no history of the edge keeps all channels of the pattern",
}

// codeOf returns the code of an error; empty: it has none.
func codeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

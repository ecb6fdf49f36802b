package operate

import (
	"errors"
	"net/http"
	"time"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

const (
	maxRead      = 1000    // messages in the answer of one call
	maxReadBytes = 4 << 20 // of their payloads and channels, one message aside
)

// errNoHistories says that there is nothing to administer.
var errNoHistories = errors.New("this edge keeps no histories")

// historyCalls are the calls about histories: those of this edge, or those that it shares
// with others. To read messages is no
// GET: it needs the role that changes need, and hooks are told.
var historyCalls = map[string]Call{
	"GET /histories":        {"", listHistories},
	"POST /histories/read":  {"history_read", readHistory},
	"POST /histories/purge": {"history_purge", purgeHistory},
}

func init() {
	for pattern, call := range historyCalls {
		Calls[pattern] = call
	}
}

// keptMessage is a message as operators see it.
type keptMessage struct {
	Position string    `json:"position"`
	Time     time.Time `json:"time"` // when it was stored
	Channel  string    `json:"channel"`
	Sender   string    `json:"sender,omitempty"` // the subject of the token that published it
	Payload  []byte    `json:"payload"`
}

func showKept(m history.Kept) keptMessage {
	return keptMessage{
		Position: m.Position.String(), Time: time.UnixMilli(int64(m.Position.T)).UTC(),
		Channel: m.Channel, Sender: string(m.Sender), Payload: m.Payload,
	}
}

// historyRead answers the call that reads messages.
type historyRead struct {
	Messages []keptMessage `json:"messages"` // oldest first
	// Next is the `after` of the next page; empty: this is the last.
	Next string `json:"next"`

	aim historyAim
}

// historyAim is what a call about messages concerned, for hooks: legal names, and a history
// that the store knows. Anything else may be a secret.
type historyAim struct{ history, tenant, pattern string }

// isUnknown reports whether a store's error leaves it open if there is such a history.
func isUnknown(err error) bool {
	return errors.Is(err, history.ErrUnknown) || errors.Is(err, history.ErrClosed)
}

func readHistory(live *app.Running, r *http.Request, body []byte) (any, error) {
	var q struct {
		History string `json:"history"`
		Tenant  string `json:"tenant"`
		Pattern string `json:"pattern"`
		After   string `json:"after"`
		Limit   int    `json:"limit"`
	}
	if err := rest.DecodeStrict(body, &q); err != nil {
		return nil, err
	}
	store := live.HistoryStore()
	if store == nil {
		return nil, errNoHistories
	}
	p, err := pattern.Parse(q.Pattern)
	switch {
	case err != nil:
		return nil, invalid("pattern", err.Error())
	case wire.CheckTenant(q.Tenant) != nil:
		return nil, invalid("tenant", "must be the name of a tenant")
	case q.Limit < 0 || q.Limit > maxRead:
		return nil, invalid("limit", "must be from 1 to 1000")
	case q.Limit == 0:
		q.Limit = maxRead
	}
	query := history.Query{History: q.History, Tenant: q.Tenant, Pattern: p, MaxMessages: q.Limit, MaxBytes: maxReadBytes}
	if q.After != "" {
		at, err := wire.ParsePosition(q.After)
		if err != nil {
			return nil, invalid("after", "must be the next of an answer, or the position of a message")
		}
		query.After = at.N
	}
	answer := historyRead{Messages: []keptMessage{}, aim: historyAim{q.History, q.Tenant, q.Pattern}}
	// What is stored from now on is not read: it may be of other tenants, and without end.
	head, err := store.Head(q.History, q.Tenant)
	if err != nil {
		return answer, err
	}
	for len(answer.Messages) == 0 { // a page may have looked at many messages that do not match
		page, err := store.Read(r.Context(), query)
		if isUnknown(err) {
			return nil, err
		}
		if err != nil {
			return answer, err
		}
		for _, m := range page.Messages {
			answer.Messages = append(answer.Messages, showKept(m))
		}
		if page.Through.N >= head.N {
			return answer, nil
		}
		answer.Next, query.After = page.Through.String(), page.Through.N
	}
	return answer, nil
}

// historyPurged answers the call that deletes messages.
type historyPurged struct {
	Removed int `json:"removed"`

	aim historyAim
}

func purgeHistory(live *app.Running, _ *http.Request, body []byte) (any, error) {
	var q struct {
		History string `json:"history"`
		Tenant  string `json:"tenant"  empty:"refused"`
		Channel string `json:"channel" empty:"refused"`
		All     bool   `json:"all"`
	}
	if err := rest.DecodeStrict(body, &q); err != nil {
		return nil, err
	}
	store := live.HistoryStore()
	switch {
	case store == nil:
		return nil, errNoHistories
	case q.All == (q.Tenant != ""):
		return nil, invalid("body", "must have either tenant, or all for all tenants of the history")
	case q.All && q.Channel != "":
		return nil, invalid("channel", "needs a tenant")
	case !q.All && wire.CheckTenant(q.Tenant) != nil:
		return nil, invalid("tenant", "must be the name of a tenant")
	case q.Channel != "" && wire.CheckChannel(q.Channel) != nil:
		return nil, invalid("channel", "must be the name of a channel")
	}
	removed, err := store.Purge(q.History, q.Tenant, q.Channel)
	if isUnknown(err) {
		return nil, err
	}
	return historyPurged{removed, historyAim{q.History, q.Tenant, q.Channel}}, err
}

// historyProblem is the answer for an error about histories; false: it is another error.
func historyProblem(err error) (p rest.Problem, ok bool) {
	switch {
	case errors.Is(err, errNoHistories):
		return rest.Problem{Status: http.StatusNotFound, Code: "no_histories", Detail: err.Error()}, true
	case errors.Is(err, history.ErrUnknown):
		return rest.Problem{Status: http.StatusNotFound, Code: "unknown_history", Detail: err.Error()}, true
	case errors.Is(err, history.ErrUnavailable), errors.Is(err, history.ErrClosed):
		return rest.Problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: "the history store is out of reach"}, true
	}
	return p, false
}

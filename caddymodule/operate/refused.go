package operate

import (
	"net/http"
	"strconv"
	"time"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/overlay"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

// refusedAnswer is a page of what was refused last.
type refusedAnswer struct {
	overlay.RefusedList
	NextCursor string `json:"next_cursor"` // empty: this is the last page
}

func listRefused(live *app.Running, r *http.Request, _ []byte) (any, error) {
	q, err := refusedQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	list, err := live.Overlay().Refused(r.Context(), q)
	answer := refusedAnswer{RefusedList: list}
	if n := len(list.Refused); list.More && n > 0 {
		answer.NextCursor = list.Refused[n-1].Time.Format(time.RFC3339Nano)
	}
	return answer, err
}

func refusedQuery(raw string) (q overlay.RefusedQuery, err error) {
	given, err := rest.Parameters(raw, "edge", "connection_id", "token_id", "subject", "ip", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q.Edge, q.TokenID, q.Subject = given["edge"], given["token_id"], given["subject"]
	if q.Limit, err = limitOf(given, overlay.MaxLimit); err != nil {
		return q, err
	}
	if ip, has := given["ip"]; has {
		if q.Network, err = network(ip); err != nil {
			return q, err
		}
	}
	if q.ConnectionID, err = connectionID(given); err != nil {
		return q, err
	}
	if cursor, has := given["cursor"]; has {
		if q.Before, err = time.Parse(time.RFC3339Nano, cursor); err != nil {
			return q, errCursor
		}
	}
	switch {
	case q.TokenID != "" && !tokenstore.IsID(q.TokenID):
		return q, invalid("token_id", "must be 32 lower-case hex digits")
	case len(q.Subject) > tokenstore.MaxSubject:
		return q, invalid("subject", "must be at most "+strconv.Itoa(tokenstore.MaxSubject)+" bytes")
	}
	return q, nil
}

// connectionID returns the parameter of this name, or zero if it is not given.
func connectionID(given map[string]string) (wire.ConnectionID, error) {
	text, has := given["connection_id"]
	id, ok := wire.ParseConnectionID(text)
	if has && !ok {
		return 0, invalid("connection_id", "must be 16 lower-case hex digits")
	}
	return id, nil
}

package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/tokenstore"
)

func TestPresenceList(t *testing.T) {
	all := []presence.Usage{ // in no order
		{Presence: "rooms", Tenant: "shop", Members: 4}, {Presence: "desks", Tenant: "shop", Members: 1},
		{Presence: "rooms", Tenant: "paint.us", Members: 3}, {Presence: "rooms", Tenant: "paint.eu", Members: 2},
	}
	configured := []presence.Definition{{Name: "rooms", Members: 10}, {Name: "empty", Members: 20}, {Name: "desks", Members: 30}}
	names := func(query string) string {
		t.Helper()
		q, err := parsePresenceQuery(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		answer := q.list(slices.Clone(all), configured)
		var b strings.Builder
		for _, u := range answer.Presences {
			fmt.Fprintf(&b, "%s:%s=%d ", u.Presence, u.Tenant, u.Members)
		}
		if got := fmt.Sprint(answer.Totals); got != "[{rooms 3 9 10} {empty 0 0 20} {desks 1 1 30}]" {
			t.Errorf("%s: totals %s", query, got)
		}
		return b.String() + "| " + answer.NextCursor
	}
	for query, want := range map[string]string{
		"":                                       "desks:shop=1 rooms:paint.eu=2 rooms:paint.us=3 rooms:shop=4 | ",
		"presence=desks":                         "desks:shop=1 | ",
		"tenant=paint.*":                         "rooms:paint.eu=2 rooms:paint.us=3 | ",
		"tenant=paint":                           "| ",
		"limit=1&tenant=shop":                    "desks:shop=1 | desks:shop",
		"limit=1&tenant=shop&cursor=desks:shop":  "rooms:shop=4 | ",
		"cursor=rooms:paint.f":                   "rooms:paint.us=3 rooms:shop=4 | ", // its own row is gone meanwhile
		"limit=2&cursor=desks:shop":              "rooms:paint.eu=2 rooms:paint.us=3 | rooms:paint.us",
		"limit=1000&presence=rooms&tenant=shop*": "rooms:shop=4 | ",
	} {
		if got := names(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "limit=", "tenant=a+b", "cursor=x", "presence=a&presence=b", "x=1", "%"} {
		var invalid *tokenstore.InvalidError
		if _, err := parsePresenceQuery(query); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if q, err := parsePresenceQuery(""); err != nil || q.limit != maxListed || q.list(nil, nil).Presences == nil || q.list(nil, nil).Totals == nil {
		t.Error("no limit, or null in place of an empty list")
	}
}

func TestMemberQuery(t *testing.T) {
	q, err := parseMemberQuery("tenant=paint")
	if err != nil || q.Tenant != "paint" || q.Pattern.String() != "#" || q.Limit != maxListed || q.After != 0 {
		t.Errorf("got %+v, %v", q, err)
	}
	q, err = parseMemberQuery("tenant=paint&pattern=room.*&subject=ann%20%26%20bob&limit=7&cursor=9")
	if err != nil || q.Pattern.String() != "room.*" || q.Subject != "ann & bob" || q.Limit != 7 || q.After != 9 {
		t.Errorf("got %+v, %v", q, err)
	}
	for _, query := range []string{
		"", "tenant=", "tenant=a:b", "tenant=a*", "tenant=t&tenant=u", "tenant=t&pattern=a..b", "tenant=t&pattern=", "tenant=t&subject=" + strings.Repeat("x", tokenstore.MaxSubject+1),
		"tenant=t&limit=0", "tenant=t&limit=1001", "tenant=t&cursor=0", "tenant=t&cursor=-1", "tenant=t&cursor=x", "tenant=t&x=1", "%",
	} {
		var invalid *tokenstore.InvalidError
		if _, err := parseMemberQuery(query); !errors.As(err, &invalid) || strings.Contains(err.Error(), "xxx") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// Both calls say that there is no presence, and answer with lists where there is one.
func TestPresenceCalls(t *testing.T) {
	hub := pubsub.NewHub(memory.New(), pubsub.Limits{}, zap.NewNop())
	defer hub.Close()
	caller := Caller{App: new(app.App), Running: &app.Running{Hub: hub}}
	get := func(pattern, query string) (status int, body string) {
		w := httptest.NewRecorder()
		Calls["GET "+pattern].Serve(w, httptest.NewRequest(http.MethodGet, pattern+query, nil), caller)
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s%s: no JSON: %s", pattern, query, w.Body)
		}
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	for _, pattern := range []string{"/presences", "/presences/members"} {
		if status, body := get(pattern, "?tenant=t"); status != http.StatusNotFound || !strings.Contains(body, `"no_presences"`) {
			t.Errorf("%s without a presence: %d %s", pattern, status, body)
		}
	}
	set, err := presence.NewSet([]presence.Definition{{Name: "rooms", Channels: []string{"room.#"}, Members: 7, Linger: presence.DefaultLinger}})
	if err != nil {
		t.Fatal(err)
	}
	hub.SetPresences(set)
	for call, want := range map[[2]string]string{
		{"/presences", ""}:                  `{"presences":[],"totals":[{"presence":"rooms","tenants":0,"members":0,"max_members":7}]}`,
		{"/presences/members", "?tenant=t"}: `{"members":[],"total":{"members":0,"channels":0}}`,
	} {
		if status, body := get(call[0], call[1]); status != http.StatusOK || body != want {
			t.Errorf("%v: %d %s, want %s", call, status, body, want)
		}
	}
	if status, body := get("/presences/members", ""); status != http.StatusBadRequest || !strings.Contains(body, `"invalid_body"`) {
		t.Errorf("without a tenant: %d %s", status, body)
	}
}

package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/tokenstore"
)

func TestHistoryList(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	all := []history.Usage{ // in no order
		{History: "prices", Tenant: "shop", Channels: 1, Messages: 5, Bytes: 50, Oldest: at(5)},
		{History: "chat", Tenant: "paint.eu", Channels: 2, Messages: 20, Bytes: 200, Oldest: at(9)},
		{History: "chat", Tenant: "paint.us", Channels: 3, Messages: 30, Bytes: 300, Oldest: at(7)},
		{History: "chat", Tenant: "shop", Channels: 4, Messages: 40, Bytes: 400, Oldest: at(8)},
	}
	configured := history.State{Configured: new(history.Definition)}
	names := func(query string) string {
		t.Helper()
		q, err := parseHistoryQuery(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		answer := q.list(slices.Clone(all), map[string]history.State{"chat": configured, "empty": configured})
		var b strings.Builder
		for _, u := range answer.Histories {
			fmt.Fprintf(&b, "%s:%s ", u.History, u.Tenant)
		}
		want := []historyTotal{
			{History: "chat", Configured: true, Tenants: 3, Channels: 9, Messages: 90, Bytes: 900, Oldest: at(7)},
			{History: "empty", Configured: true},
			{History: "prices", Tenants: 1, Channels: 1, Messages: 5, Bytes: 50, Oldest: at(5)},
		}
		if !reflect.DeepEqual(answer.Totals, want) {
			t.Errorf("%s: totals %+v, want %+v", query, answer.Totals, want)
		}
		return b.String() + "| " + answer.NextCursor
	}
	for query, want := range map[string]string{
		"":                                     "chat:paint.eu chat:paint.us chat:shop prices:shop | ",
		"history=chat":                         "chat:paint.eu chat:paint.us chat:shop | ",
		"history=none":                         "| ",
		"tenant=shop":                          "chat:shop prices:shop | ",
		"tenant=paint":                         "| ",
		"tenant=paint.*":                       "chat:paint.eu chat:paint.us | ",
		"tenant=*":                             "chat:paint.eu chat:paint.us chat:shop prices:shop | ",
		"limit=2":                              "chat:paint.eu chat:paint.us | chat:paint.us",
		"limit=2&cursor=chat:paint.us":         "chat:shop prices:shop | ",
		"limit=1&tenant=shop":                  "chat:shop | chat:shop",
		"limit=1&tenant=shop&cursor=chat:shop": "prices:shop | ",
		"cursor=chat:paint.f":                  "chat:paint.us chat:shop prices:shop | ", // its own row is gone meanwhile
		"limit=4":                              "chat:paint.eu chat:paint.us chat:shop prices:shop | ",
		"limit=1000&history=prices":            "prices:shop | ",
	} {
		if got := names(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "limit=", "tenant=a+b", "tenant=a*b", "cursor=x", "history=a&history=b", "x=1", "%"} {
		var invalid *tokenstore.InvalidError
		if _, err := parseHistoryQuery(query); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if got := (historyQuery{}).list(nil, nil); got.Histories == nil || got.Totals == nil {
		t.Error("null in place of an empty list")
	}
}

// observer is a hook that keeps what it is told.
type observer struct{ told []hook.Operation }

func (o *observer) Operated(op hook.Operation) { o.told = append(o.told, op) }

// Operators see whose a message is.
func TestShowKept(t *testing.T) {
	got, err := json.Marshal(showKept(history.Kept{Channel: "a", Sender: []byte("ann"), Payload: []byte("hi")}))
	if err != nil || !strings.Contains(string(got), `"channel":"a","sender":"ann","payload":"aGk="`) {
		t.Errorf("got %s, %v", got, err)
	}
}

// Hooks are told which history, tenant and channel was read or purged, also if
// that failed.
func TestHistoriesAreTold(t *testing.T) {
	hub := pubsub.NewHub(memory.New(), pubsub.Limits{}, zap.NewNop())
	told := new(observer)
	hub.SetHooks([]pubsub.NamedHook{{Name: "test", Hook: told}})
	caller := Caller{Running: &app.Running{Hub: hub}, Actor: "operator:ada", IP: netip.MustParseAddr("192.0.2.1")}
	answer := func(operation string, answer any, err error) {
		caller.Answer(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil), operation, answer, err)
	}
	answer("history_purge", historyPurged{2, historyAim{"chat", "paint", "chat.1"}}, nil)
	answer("history_purge", historyPurged{9, historyAim{"chat", "", ""}}, nil)
	answer("history_purge", historyPurged{0, historyAim{"chat", "paint", ""}}, history.ErrUnavailable)
	answer("history_purge", nil, history.ErrUnknown)
	answer("history_read", historyRead{aim: historyAim{"chat", "paint", "#"}}, nil)
	want := []hook.Operation{
		{Name: "history_purge", Status: 200, History: "chat", Tenants: []string{"paint"}, Pattern: "chat.1"},
		{Name: "history_purge", Status: 200, History: "chat"},
		{Name: "history_purge", Status: 503, Code: "unavailable", History: "chat", Tenants: []string{"paint"}},
		{Name: "history_purge", Status: 404, Code: "unknown_history"},
		{Name: "history_read", Status: 200, History: "chat", Tenants: []string{"paint"}, Pattern: "#"},
	}
	for i := range want {
		want[i].Actor, want[i].IP = caller.Actor, caller.IP
	}
	if fmt.Sprintf("%+v", told.told) != fmt.Sprintf("%+v", want) {
		t.Errorf("hooks are told\n%+v\nwant\n%+v", told.told, want)
	}
}

package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/refusals"
	"github.com/millrace/millrace/wire"
)

// open gives a hook whose records and clock the test has.
func open(maxRefusals int) (a *Audit, records *observer.ObservedLogs, clock *time.Time) {
	core, records := observer.New(zapcore.InfoLevel)
	clock = new(time.Time)
	*clock = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	budget := func() refusals.Budget { return refusals.Budget{Max: maxRefusals} }
	return &Audit{log: zap.New(core), now: func() time.Time { return *clock }, refusals: budget(), logins: budget()}, records, clock
}

func lines(records *observer.ObservedLogs) (list []string) {
	for _, r := range records.TakeAll() {
		encoder := zapcore.NewMapObjectEncoder()
		for _, f := range r.Context {
			f.AddTo(encoder)
		}
		list = append(list, fmt.Sprint(r.Message, " ", encoder.Fields))
	}
	return list
}

func TestRecords(t *testing.T) {
	a, records, _ := open(10)
	ip := netip.MustParseAddr("192.0.2.1")
	c := hook.Client{ID: 7, TokenID: "id", Tenants: []string{"t"}, IP: ip, Transport: "websocket"}
	a.Connected(c)
	a.Disconnected(c, hook.Disconnection{Code: wire.CloseForbidden, Reason: "token_revoked", After: time.Second})
	a.Refused(hook.RefusedClient{Transport: "webtransport", Status: 401, Code: "unauthorized"})
	a.Refused(hook.RefusedClient{
		ConnectionID: 0xab, Transport: "websocket", Status: 403, Code: "region_not_allowed", TokenID: "id", Subject: "ada", Verified: true,
		Reason: "the region is US", Rule: "right.allow_regions [EU]",
	})
	a.Denied(c, hook.Denial{Action: "sub", Tenant: "t", Channel: "a.*", Code: wire.CodePermissionDenied, Reason: "no rule"})
	a.Operated(hook.Operation{Name: "issue", Actor: "master", IP: ip, Status: 200, TokenID: "id", Tenants: []string{"t"}, ExpiresAt: time.Unix(0, 0).UTC()})
	a.Operated(hook.Operation{Name: "revoke", Actor: "admin", Status: 404, Code: "unknown_token"})
	a.Operated(hook.Operation{Name: "login", Status: 401, Code: "bad_credentials", Operator: "ada"})
	a.Operated(hook.Operation{Name: "live_tail", Actor: "operator:ada", Status: 200, TokenID: "id", Tenants: []string{"t"}, Pattern: "news.#"})
	a.Operated(hook.Operation{Name: "disconnect", Actor: "operator:ada", Status: 200, Edge: "eu-1", Connection: 7})
	a.Operated(hook.Operation{Name: "history_purge", Actor: "operator:ada", Status: 200, History: "chat", Tenants: []string{"t"}, Pattern: "chat.5"})
	a.Operated(hook.Operation{Name: "history_read", Actor: "admin", Status: 503, Code: "unavailable", History: "chat", Tenants: []string{"t"}, Pattern: "#"})
	want := []string{
		"connected map[connection:7 ip:192.0.2.1 tenants:[t] token_id:id transport:websocket]",
		"disconnected map[after:1s close_code:4403 connection:7 ip:192.0.2.1 reason:token_revoked tenants:[t] token_id:id transport:websocket]",
		"refused map[code:unauthorized ip: status:401 token_id: transport:webtransport]",
		"refused map[code:region_not_allowed connection_id:00000000000000ab ip: reason:the region is US rule:right.allow_regions [EU] status:403 subject:ada token_id:id transport:websocket]",
		"denied map[action:sub channel:a.* code:permission_denied connection:7 ip:192.0.2.1 reason:no rule tenant:t token_id:id transport:websocket]",
		"token operation map[actor:master expires_at:1970-01-01 00:00:00 +0000 UTC ip:192.0.2.1 operation:issue status:200 tenants:[t] token_id:id]",
		"token operation map[actor:admin code:unknown_token ip: operation:revoke status:404]",
		"operation map[actor: code:bad_credentials ip: operation:login operator:ada status:401]",
		"operation map[actor:operator:ada ip: operation:live_tail pattern:news.# status:200 tenants:[t] token_id:id]",
		"operation map[actor:operator:ada connection:7 edge:eu-1 ip: operation:disconnect status:200]",
		"operation map[actor:operator:ada history:chat ip: operation:history_purge pattern:chat.5 status:200 tenants:[t]]",
		"operation map[actor:admin code:unavailable history:chat ip: operation:history_read pattern:# status:503 tenants:[t]]",
	}
	if got := lines(records); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Subjects are in all records, and info as JSON in those of connections.
func TestSubjects(t *testing.T) {
	var out bytes.Buffer
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"}), zapcore.AddSync(&out), zapcore.InfoLevel)
	a, _, _ := open(10)
	a.log = zap.New(core)
	c := hook.Client{ID: 7, TokenID: "id", Transport: "websocket", Subject: "ada\"", Info: json.RawMessage(`{"plan":"pro"}`)}
	a.Connected(c)
	a.Disconnected(c, hook.Disconnection{Code: wire.CloseForbidden})
	a.Refused(hook.RefusedClient{TokenID: "id", Subject: "ada", Status: 503, Code: "too_many_connections_of_subject"})
	a.Operated(hook.Operation{Name: "issue", Actor: "m", Status: 200, TokenID: "id", Subject: "ada"})
	a.Operated(hook.Operation{Name: "revoke_subject", Actor: "m", Status: 200, Subject: "ada"})
	a.Operated(hook.Operation{Name: "revoke_subject", Actor: "m", Status: 503, Code: "unavailable", Subject: "ada", Revoked: 3})
	a.Operated(hook.Operation{Name: "revoke_subject", Actor: "m", Status: 400, Code: "invalid_body"})
	for i, want := range []string{
		`"subject":"ada\"","info":{"plan":"pro"}`, `"subject":"ada\"","info":{"plan":"pro"}`, `"token_id":"id","ip":"","transport":"","subject":"ada"}`,
		`"token_id":"id","subject":"ada"}`, `"status":200,"revoked":0,"subject":"ada"}`, `"revoked":3,"subject":"ada"}`, `"code":"invalid_body"}`,
	} {
		line, err := out.ReadString('\n')
		if err != nil || !strings.Contains(line, want) {
			t.Errorf("record %d: %s, want it with %s", i, line, want)
		}
	}
}

// Strangers do not fill the disk: what goes beyond the bound is one record a second, and
// nothing is lost of what others do.
func TestRefusalsAreBounded(t *testing.T) {
	a, records, clock := open(3)
	for range 50 {
		a.Refused(hook.RefusedClient{Code: "unauthorized"})
		a.Operated(hook.Operation{Name: "issue", Status: 401})
	}
	a.Operated(hook.Operation{Name: "issue", Actor: "master", Status: 200})
	if n := records.Len(); n != 4 {
		t.Errorf("%d records, want 3 refusals and 1 operation", n)
	}
	records.TakeAll()
	*clock = clock.Add(time.Second)
	a.Refused(hook.RefusedClient{Code: "unauthorized"})
	got := lines(records)
	if len(got) != 2 || got[0] != "refused, without records of their own map[count:97]" {
		t.Errorf("got %q", got)
	}
	for range 10 {
		a.Refused(hook.RefusedClient{Code: "unauthorized"})
	}
	records.TakeAll()
	// Guesses of passwords are not lost among them, and those that come too fast are bounded,
	// also where a session is behind them.
	for range 50 {
		a.Operated(hook.Operation{Name: "login", Status: 401, Code: "bad_credentials", Operator: "ada"})
	}
	if n := len(records.TakeAll()); n != 50 {
		t.Errorf("%d of 50 wrong passwords got a record", n)
	}
	for range 5 {
		a.Operated(hook.Operation{Name: "login", Status: 429, Code: "too_many_attempts", Operator: "ada"})
		a.Operated(hook.Operation{Name: "confirm", Actor: "operator:ada", Status: 429, Code: "too_many_attempts", Operator: "ada"})
	}
	if n := len(records.TakeAll()); n != 3 {
		t.Errorf("%d records of attempts that come too fast, want 3", n)
	}
	if err := a.Cleanup(); err != nil {
		t.Error(err)
	}
	if got := lines(records); len(got) != 2 || got[0] != "refused, without records of their own map[count:8]" || got[1] != "refused, without records of their own map[count:7]" {
		t.Errorf("at the end: %q", got)
	}
}

// Neither one address nor one tenant keeps refusals of others out.
func TestRefusalsAreShared(t *testing.T) {
	a, records, _ := open(8)
	for i := range 200 {
		a.Refused(hook.RefusedClient{IP: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), Subject: "flood"})
		a.Denied(hook.Client{TokenID: fmt.Sprint(i), Tenants: []string{"loud"}}, hook.Denial{Reason: "flood"})
	}
	flood := len(records.TakeAll())
	a.Refused(hook.RefusedClient{IP: netip.MustParseAddr("198.51.100.1")})
	for i := range 200 {
		a.Refused(hook.RefusedClient{IP: netip.AddrFrom4([4]byte{10, 0, byte(i), 1})})
	}
	a.Refused(hook.RefusedClient{TokenID: "x", Tenants: []string{"quiet"}, Verified: true})
	if n := len(records.TakeAll()); flood != 4+2 || n != 4+1 {
		t.Errorf("%d records of a flood, and %d of others", flood, n)
	}
	a.Connections = off
	a.Connected(hook.Client{})
	a.Disconnected(hook.Client{}, hook.Disconnection{})
	if records.Len() != 0 {
		t.Error("there are records of connections")
	}
}

func TestUnmarshalCaddyfile(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"audit", ""},
		{"audit {\nmax_refusals 5\n}", ""},
		{"audit {\nmax_refusals many\n}", "max_refusals: must be a whole number"},
		{"audit {\ncolour blue\n}", "unknown option colour of audit; allowed: connections, max_refusals"},
		{"audit {\nconnections off\n}", ""},
		{"audit {\nconnections some\n}", "connections: must be on or off"},
		{"audit here", "wrong argument count"},
	} {
		err := new(Audit).UnmarshalCaddyfile(caddyfile.NewTestDispenser(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(strings.ToLower(err.Error()), c.want)) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}

package tokens

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/smalldisk"
	"github.com/millrace/millrace/wire"
)

// An edge whose disk is full goes on with all but changes of tokens, at run time and from a
// start after kill -9, and takes changes again when there is room. What it has acknowledged
// is there.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smalldisk.Mount(t, 512<<20)
	onDisk := func(e *harness.Edge) { e.Store = "badger " + disk + "/tokens" }
	e := harness.StartEdge(t, readyCaddyfile, onDisk)
	kept := e.Issue(harness.AllowAll("demo")).Token
	var acknowledged []harness.Issued
	large := harness.TokenRequest(harness.AllowAll("demo"))
	large["description"] = strings.Repeat("x", 500)
	try := func() harness.Answer {
		a := e.Rest("POST", "/v1/get-token", e.Master, large)
		if a.Status == http.StatusOK {
			var got harness.Issued
			a.Decode(t, http.StatusOK, &got)
			acknowledged = append(acknowledged, got)
		} else if a.Problem(t, http.StatusServiceUnavailable, "insufficient_storage"); a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		return a
	}
	check := func(full bool) {
		t.Helper()
		want, text := 1.0, "ready"
		if full {
			want, text = 0, "ready\nthe disk has no room for changes of tokens"
			e.Revoke(e.Master, kept).Problem(t, http.StatusServiceUnavailable, "insufficient_storage")
		}
		e.ExpectMetrics(harness.Samples{"millrace_token_store_writable": want})
		if got := e.Rest("GET", "/ready", "", nil); got.Status != http.StatusOK || string(got.Body) != text {
			t.Errorf("readiness is %d %q", got.Status, got.Body)
		}
		s := e.Dial(kept)
		s.Subscribe("paint.demo", "a.#")
		s.Publish("paint.demo", "a.b", "x")
		s.ExpectDeliver("paint.demo", "a.b", "x", "a.#")
	}
	for range 2 {
		check(false)
		smalldisk.Fill(t, disk)
		e.Poll("a refusal", func() bool { return try().Status != http.StatusOK })
		check(true)
		smalldisk.Free(t, disk)
		e.Poll("room", func() bool { return try().Status == http.StatusOK })
	}
	smalldisk.Fill(t, disk)
	e.Poll("a refusal", func() bool { return try().Status != http.StatusOK })
	e.Kill()
	e = harness.StartEdge(t, readyCaddyfile, onDisk, harness.WithMaster(e)) // with a log that ends anywhere
	check(true)
	smalldisk.Free(t, disk)
	e.Poll("room", func() bool { return try().Status == http.StatusOK })
	check(false)
	for _, token := range acknowledged {
		e.Dial(token.Token).Close()
	}
	s := e.Dial(kept)
	e.Revoke(e.Master, kept).Decode(t, http.StatusOK, new(harness.Object))
	s.ExpectText("ERR:token_revoked")
	s.ExpectClose(wire.CloseForbidden)
}

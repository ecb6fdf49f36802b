package tokens

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/smalldisk"
)

// onDisk keeps the edge's tokens on a file system of their own.
func onDisk(dir string) harness.Option {
	return func(e *harness.Edge) { e.Store = "badger " + dir + "/tokens" }
}

// issuers issue tokens through a master until they are stopped, and remember
// those that were acknowledged.
type issuers struct {
	mu      sync.Mutex
	tokens  []string
	refused atomic.Int64 // with insufficient_storage
	wrong   string       // another answer
	stop    chan struct{}
	running sync.WaitGroup
}

func startIssuers(e *harness.Edge, n int) *issuers {
	i := &issuers{stop: make(chan struct{})}
	body := harness.TokenRequest(harness.AllowAll("demo"))
	body["description"] = strings.Repeat("x", 500)
	encoded := e.Encode(body)
	for range n {
		i.running.Go(func() {
			for {
				select {
				case <-i.stop:
					return
				default:
				}
				a, err := e.Try(harness.Call{Method: "POST", URL: "/v1/get-token", Token: e.Master, Body: encoded})
				i.Take(a, err)
			}
		})
	}
	e.T.Cleanup(i.End)
	return i
}

func (i *issuers) Take(a harness.Answer, err error) {
	var got struct{ Token, Code string }
	if err == nil {
		err = json.Unmarshal(a.Body, &got)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case err == nil && a.Status == http.StatusOK:
		i.tokens = append(i.tokens, got.Token)
	case err == nil && a.Status == http.StatusServiceUnavailable && got.Code == "insufficient_storage" && a.Header.Get("Retry-After") != "":
		i.refused.Add(1)
	case i.wrong == "":
		i.wrong = fmt.Sprintf("%d %s %v", a.Status, a.Body, err)
	}
}

func (i *issuers) acknowledged() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string(nil), i.tokens...)
}

func (i *issuers) End() {
	select {
	case <-i.stop:
	default:
		close(i.stop)
	}
	i.running.Wait()
}

// An edge whose disk is full goes on with all but changes of tokens, at run time
// and from a start, and takes changes again when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smalldisk.Mount(t, 512<<20)
	e := harness.StartEdge(t, readyCaddyfile, onDisk(disk))
	kept := e.Issue(harness.AllowAll("demo")).Token
	publisher, subscriber := e.Dial(kept), e.Dial(kept)
	subscriber.Subscribe("paint.demo", "a.#")
	delivers := func(payload string) {
		t.Helper()
		publisher.Publish("paint.demo", "a.b", payload)
		subscriber.ExpectDeliver("paint.demo", "a.b", payload, "a.#")
	}
	refuses := func() {
		t.Helper()
		for _, a := range []harness.Answer{
			e.Rest("POST", "/v1/get-token", e.Master, harness.TokenRequest(harness.AllowAll("demo"))),
			e.Revoke(e.Master, kept),
		} {
			a.Problem(t, http.StatusServiceUnavailable, "insufficient_storage")
			if a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		e.ExpectMetrics(harness.Samples{"millrace_token_store_writable": 0})
		if got := e.Rest("GET", "/ready", "", nil); got.Status != http.StatusOK || string(got.Body) != "ready\nthe disk has no room for changes of tokens" {
			t.Errorf("readiness is %d %q", got.Status, got.Body)
		}
	}

	load := startIssuers(e, 4)
	for round := range 3 {
		already := len(load.acknowledged())
		e.Poll("tokens under load", func() bool { return len(load.acknowledged()) > already+200 })
		before := load.refused.Load()
		smalldisk.Fill(t, disk)
		e.Poll("refusals", func() bool { return load.refused.Load() > before+10 })
		delivers(fmt.Sprint("full ", round))
		refuses()
		e.Dial(kept).Close()
		smalldisk.Free(t, disk)
		e.Poll("room", func() bool { return len(load.acknowledged()) > already+300 })
		e.ExpectMetrics(harness.Samples{"millrace_token_store_writable": 1})
		delivers(fmt.Sprint("room ", round))
	}
	load.End()
	if load.wrong != "" {
		t.Errorf("a call was answered %s", load.wrong)
	}
	for _, line := range []string{"changes of tokens are refused", "changes of tokens are accepted"} {
		if n := strings.Count(e.Output(), line); n != 3 {
			t.Errorf("%d lines %q for three times", n, line)
		}
	}

	smalldisk.Fill(t, disk)
	e.Poll("the full disk", func() bool { return e.Metrics()["millrace_token_store_writable"] == 0 })
	e.Kill()
	e = harness.StartEdge(t, readyCaddyfile, onDisk(disk), harness.WithMaster(e)) // on a full disk, with a log that ends anywhere
	for _, token := range append(load.acknowledged(), kept)[max(0, len(load.acknowledged())-50):] {
		e.Dial(token).Close()
	}
	publisher, subscriber = e.Dial(kept), e.Dial(kept)
	subscriber.Subscribe("paint.demo", "a.#")
	delivers("after a start")
	refuses()
	smalldisk.Free(t, disk)
	e.Poll("room", func() bool { return e.Metrics()["millrace_token_store_writable"] == 1 })
	delivers("with room again")
	e.Dial(e.Issue(harness.AllowAll("demo")).Token).Close()
	e.Revoke(e.Master, kept).Decode(t, http.StatusOK, new(harness.Object))
	subscriber.ExpectText("ERR:token_revoked")
	subscriber.ExpectClose(4403)
	listed := map[string]bool{}
	for cursor := ""; ; {
		page := e.List(e.Master, "limit=1000"+cursor)
		for _, token := range page.Tokens {
			listed[token.TokenID] = token.Status == "valid"
		}
		if page.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + page.NextCursor
	}
	for _, token := range load.acknowledged() {
		if !listed[token[3:35]] {
			t.Fatalf("an acknowledged token is lost: %s", token[3:35])
		}
	}
}

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/internal/smalldisk"
)

// onDisk keeps the edge's tokens on a file system of their own.
func onDisk(dir string) option {
	return func(e *edge) { e.Store = "badger " + dir + "/tokens" }
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

func (e *edge) startIssuers(n int) *issuers {
	i := &issuers{stop: make(chan struct{})}
	body := tokenRequest(allowAll("demo"))
	body["description"] = strings.Repeat("x", 500)
	encoded := e.encode(body)
	for range n {
		i.running.Go(func() {
			for {
				select {
				case <-i.stop:
					return
				default:
				}
				a, err := e.try(call{Method: "POST", URL: "/v1/get-token", Token: e.master, Body: encoded})
				i.take(a, err)
			}
		})
	}
	e.t.Cleanup(i.end)
	return i
}

func (i *issuers) take(a answer, err error) {
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

func (i *issuers) end() {
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
	e := startEdge(t, readyCaddyfile, onDisk(disk))
	kept := e.issue(allowAll("demo")).Token
	publisher, subscriber := e.dial(kept), e.dial(kept)
	subscriber.subscribe("paint.demo", "a.#")
	delivers := func(payload string) {
		t.Helper()
		publisher.publish("paint.demo", "a.b", payload)
		subscriber.expectDeliver("paint.demo", "a.b", payload, "a.#")
	}
	refuses := func() {
		t.Helper()
		for _, a := range []answer{
			e.rest("POST", "/v1/get-token", e.master, tokenRequest(allowAll("demo"))),
			e.revoke(e.master, kept),
		} {
			a.problem(t, http.StatusServiceUnavailable, "insufficient_storage")
			if a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		e.expectMetrics(samples{"millrace_token_store_writable": 0})
		if got := e.rest("GET", "/ready", "", nil); got.Status != http.StatusOK || string(got.Body) != "ready\nthe disk has no room for changes of tokens" {
			t.Errorf("readiness is %d %q", got.Status, got.Body)
		}
	}

	load := e.startIssuers(4)
	for round := range 3 {
		already := len(load.acknowledged())
		e.poll("tokens under load", func() bool { return len(load.acknowledged()) > already+200 })
		before := load.refused.Load()
		smalldisk.Fill(t, disk)
		e.poll("refusals", func() bool { return load.refused.Load() > before+10 })
		delivers(fmt.Sprint("full ", round))
		refuses()
		e.dial(kept).close()
		smalldisk.Free(t, disk)
		e.poll("room", func() bool { return len(load.acknowledged()) > already+300 })
		e.expectMetrics(samples{"millrace_token_store_writable": 1})
		delivers(fmt.Sprint("room ", round))
	}
	load.end()
	if load.wrong != "" {
		t.Errorf("a call was answered %s", load.wrong)
	}
	for _, line := range []string{"changes of tokens are refused", "changes of tokens are accepted"} {
		if n := strings.Count(e.output(), line); n != 3 {
			t.Errorf("%d lines %q for three times", n, line)
		}
	}

	smalldisk.Fill(t, disk)
	e.poll("the full disk", func() bool { return e.metrics()["millrace_token_store_writable"] == 0 })
	e.kill()
	e = startEdge(t, readyCaddyfile, onDisk(disk), withMaster(e)) // on a full disk, with a log that ends anywhere
	for _, token := range append(load.acknowledged(), kept)[max(0, len(load.acknowledged())-50):] {
		e.dial(token).close()
	}
	publisher, subscriber = e.dial(kept), e.dial(kept)
	subscriber.subscribe("paint.demo", "a.#")
	delivers("after a start")
	refuses()
	smalldisk.Free(t, disk)
	e.poll("room", func() bool { return e.metrics()["millrace_token_store_writable"] == 1 })
	delivers("with room again")
	e.dial(e.issue(allowAll("demo")).Token).close()
	e.revoke(e.master, kept).decode(t, http.StatusOK, new(object))
	subscriber.expectText("ERR:token_revoked")
	subscriber.expectClose(4403)
	listed := map[string]bool{}
	for cursor := ""; ; {
		page := e.list(e.master, "limit=1000"+cursor)
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

package rest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pageRecorder notes the longest write of an answer, and waits in the first one for reads,
// unless it is nil.
type pageRecorder struct {
	*httptest.ResponseRecorder
	reads   chan struct{}
	longest int
}

func (r *pageRecorder) Write(b []byte) (int, error) {
	if r.reads != nil {
		<-r.reads
	}
	r.longest = max(r.longest, len(b))
	return r.ResponseRecorder.Write(b)
}

// A page is written token by token.
func TestPagesAreStreamed(t *testing.T) {
	e := newEdge(t)
	for range 60 {
		rules := strings.Repeat(`"`+strings.Repeat("x", 100)+`",`, 100) + `"#"`
		body := strings.Replace(e.issueBody("demo", time.Hour), `"#"`, rules, 1)
		e.wantOK(e.do(request(http.MethodPost, "/v1/get-token", masterAll, body)))
	}
	rec := &pageRecorder{ResponseRecorder: httptest.NewRecorder()}
	NewHandler(e.options).ServeHTTP(rec, request(http.MethodGet, "/v1/tokens?limit=1000", masterAll, ""))
	size := rec.Body.Len()
	if tokens, _ := e.wantOK(rec.Result())["tokens"].([]any); len(tokens) != 60 {
		t.Fatalf("%d tokens", len(tokens))
	}
	if rec.longest > streamBuffer {
		t.Errorf("%d of %d bytes were written at once", rec.longest, size)
	}
}

// Callers who do not read their pages have eight of them in memory, and hinder nobody else.
func TestPagesThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t)
		handler := NewHandler(e.options)
		list := func(master string) *http.Request { return request(http.MethodGet, "/v1/tokens", master, "") }
		reads, served := make(chan struct{}), make(chan struct{})
		for range 8 {
			go func() {
				handler.ServeHTTP(&pageRecorder{ResponseRecorder: httptest.NewRecorder(), reads: reads}, list(masterPaint))
				served <- struct{}{}
			}()
		}
		synctest.Wait()
		start := time.Now()
		e.wantOK(e.do(list(masterAll)))
		equal(t, "another waited for", time.Since(start), 0)
		e.wantProblem(e.do(list(masterPaint)), CodeTooManyRequests)
		equal(t, "the ninth waited for", time.Since(start), 5*time.Second)
		close(reads)
		for range 8 {
			<-served
		}
		e.wantOK(e.do(list(masterPaint)))
	})
}

// Lists and large bodies of an issuer have half of the processors; those beyond wait, and no other issuer does.
func TestLongCallsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t)
		service := e.options.Service()
		master, err := service.AuthenticateMaster(t.Context(), masterPaint, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		var leave []func()
		for err == nil {
			short, done := context.WithTimeout(t.Context(), time.Second)
			var l func()
			if l, err = service.TakeTurn(short, master); err == nil {
				leave = append(leave, l)
			}
			done()
		}
		small := e.issueBody("demo", time.Hour)
		large := strings.Replace(small, `"#"`, strings.Repeat(`"`+strings.Repeat("x", 100)+`",`, 100)+`"#"`, 1)
		issue := func(master, body string) *http.Request {
			return request(http.MethodPost, "/v1/get-token", master, body)
		}
		start := time.Now()
		e.wantOK(e.do(issue(masterAll, large)))
		e.wantOK(e.do(request(http.MethodGet, "/v1/tokens", masterAll, "")))
		e.wantOK(e.do(issue(masterPaint, small)))
		equal(t, "others, and small bodies, waited for", time.Since(start), 0)
		e.wantProblem(e.do(issue(masterPaint, large)), CodeTooManyRequests)
		e.wantProblem(e.do(request(http.MethodGet, "/v1/tokens", masterPaint, "")), CodeTooManyRequests)
		equal(t, "the next ones waited for", time.Since(start), 10*time.Second)
		for _, l := range leave {
			l()
		}
		e.wantOK(e.do(issue(masterPaint, large)))
	})
}

// Whoever waits for the processor comes before the next call of an issuer that has many.
func TestTurnsLetOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := newEdge(t)
	master, err := e.options.Service().AuthenticateMaster(t.Context(), masterPaint, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				if leave, err := e.options.Service().TakeTurn(ctx, master); err == nil {
					calls.Add(1)
					leave()
				}
			}
		})
	}
	for calls.Load() == 0 {
		runtime.Gosched()
	}
	most := int64(0)
	for range 100 {
		before := calls.Load()
		runtime.Gosched()
		most = max(most, calls.Load()-before)
	}
	stop()
	all.Wait()
	if most > 20 {
		t.Errorf("%d calls had a turn before another goroutine", most)
	}
}

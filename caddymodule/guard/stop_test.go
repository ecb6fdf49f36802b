package guard

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/internal/memnet"
)

// A server that stops waits as long as the handlers of others need, and for ours, for requests that
// a half has come, and for those that it has answered without their bodies, as long as OwnGrace. With
// a grace_period, bodies that handlers of others have not read are left to Caddy.
func TestStopper(t *testing.T) {
	t.Run("no grace period", func(t *testing.T) { testStopper(t, false) })
	t.Run("a grace period", func(t *testing.T) { testStopper(t, true) })
}

func testStopper(t *testing.T, bounded bool) {
	const soon, grace = takeover.OwnGrace + 2*sweepEvery, 2 * time.Hour
	unread := soon
	if bounded {
		unread = grace
	}
	for request, limit := range map[string]time.Duration{
		"GET /others HTTP/1.1\r\nHost: a\r\n\r\n":                                   time.Hour,
		"POST /answered HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{":         unread,
		"POST /own HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{":              soon,
		"GET /answered HTTP/1.1\r\nHost: a\r\n\r\nGET /answered HTTP/1.1\r\nHost: ": soon,
		"GET /answered HTTP/1.1\r\nHost: ":                                          soon,
		"":                                                                          soon,
	} {
		synctest.Test(t, func(t *testing.T) {
			network, host := memnet.New(), netip.MustParseAddr("192.0.2.1")
			listener, err := network.Listen(netip.AddrPortFrom(host, 80))
			if err != nil {
				t.Fatal(err)
			}
			stop := &stopper{bounded: bounded}
			server := &http.Server{
				ConnContext: stop.connContext, ConnState: stop.connState,
				Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					defer serve(r)()
					switch r.URL.Path {
					case "/own":
						defer Own(r)()
						_, _ = io.ReadAll(r.Body)
					case "/others":
						time.Sleep(time.Hour)
					}
				}),
			}
			server.RegisterOnShutdown(stop.shutdown)
			go func() { _ = server.Serve(listener) }()
			conn, err := network.Dial(t.Context(), host, netip.AddrPortFrom(host, 80))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			var answer []byte
			go func() { answer, _ = io.ReadAll(conn) }()
			if _, err := fmt.Fprint(conn, request); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), grace)
			defer cancel()
			if err := server.Shutdown(ctx); (err != nil) != (limit == grace) {
				t.Errorf("%q: the stop: %v", request, err)
			}
			if took := time.Since(began); took > limit+time.Second || limit > soon && took < limit {
				t.Errorf("%q: the stop took %v, want %v", request, took, limit)
			}
			synctest.Wait()
			if limit == time.Hour && !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
				t.Errorf("%q: the answer was %q", request, answer)
			}
			conn.Close()
			time.Sleep(2 * sweepEvery) // the last sweep
		})
	}
}

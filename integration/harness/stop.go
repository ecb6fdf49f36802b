package harness

import (
	"regexp"
)

// AdminURL is a URL of the admin endpoint.
func (e *Edge) AdminURL(path string) string { return "http://" + e.AdminAddress() + path }

var (
	goroutineHead = regexp.MustCompile(`(?m)^goroutine \d+ `)
	OurGoroutine  = regexp.MustCompile(`millrace/pubsub(/websocket|/webtransport)?\.`)
)

// Goroutines returns the stacks of all goroutines of the edge, and their number.
func (e *Edge) Goroutines() (stacks string, count int) {
	e.T.Helper()
	got := e.Do(Call{Method: "GET", URL: e.AdminURL("/debug/pprof/goroutine?debug=2")})
	if got.Status != 200 {
		e.T.Fatalf("pprof answers %d", got.Status)
	}
	return string(got.Body), len(goroutineHead.FindAll(got.Body, -1))
}

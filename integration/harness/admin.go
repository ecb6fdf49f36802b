package harness

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"syscall"
)

func (e *Edge) AdminAddress() string { return fmt.Sprintf("localhost:%d", e.Admin) }

// AdminURL is a URL of the admin endpoint.
func (e *Edge) AdminURL(path string) string { return "http://" + e.AdminAddress() + path }

// AdminCall calls the admin API of the edge.
func (e *Edge) AdminCall(method, path string, body any) Answer {
	e.T.Helper()
	return e.Do(Call{Method: method, URL: e.AdminURL(path), Body: body})
}

var goroutineHead = regexp.MustCompile(`(?m)^goroutine \d+ `)

// Goroutines returns the stacks of all goroutines of the edge, and their number.
func (e *Edge) Goroutines() (stacks string, count int) {
	e.T.Helper()
	got := e.AdminCall("GET", "/debug/pprof/goroutine?debug=2", nil)
	if got.Status != 200 {
		e.T.Fatalf("pprof answers %d", got.Status)
	}
	return string(got.Body), len(goroutineHead.FindAll(got.Body, -1))
}

func (e *Edge) DrainByAdminAPI() {
	e.T.Helper()
	e.AdminCall("POST", "/pubsub/drain", Object{}).Decode(e.T, 200, new(Object))
}

// IssueAnywhere issues a token with the rights of the whole overlay.
func (e *Edge) IssueAnywhere(grants ...Object) (got Issued) {
	e.T.Helper()
	e.AdminCall("POST", "/pubsub/tokens", TokenRequest(grants...)).Decode(e.T, http.StatusOK, &got)
	return got
}

// Signal sends a signal, unless the process has ended.
func (e *Edge) Signal(s syscall.Signal) {
	e.T.Helper()
	if err := e.Cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		e.Must(err)
	}
}

// overlayEdge is one of the edges that an edge knows, itself included.
type overlayEdge struct {
	Name     string
	Answered bool
	Status   struct{ Version string }
}

// OverlayEdges are those that the admin endpoint lists.
func (e *Edge) OverlayEdges() []overlayEdge {
	e.T.Helper()
	var list struct{ Edges []overlayEdge }
	e.AdminCall("GET", "/pubsub/edges", nil).Decode(e.T, http.StatusOK, &list)
	return list.Edges
}

// Sessions is how many sessions an edge has.
func (e *Edge) Sessions() int {
	e.T.Helper()
	got := e.Metrics()
	return int(got["millrace_connections{transport=websocket}"] + got["millrace_connections{transport=webtransport}"])
}

// AwaitConnections returns when the edge has want connections.
func AwaitConnections(e *Edge, want int) {
	e.T.Helper()
	e.Poll(fmt.Sprintf("%d connections", want), func() bool {
		var got struct{ Connections []Object }
		e.AdminCall("GET", "/pubsub/connections", nil).Decode(e.T, http.StatusOK, &got)
		return len(got.Connections) == want
	})
}

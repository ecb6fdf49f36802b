package harness

import (
	"fmt"
	"net/http"
)

// AwaitConnections returns when the edge has want connections.
func AwaitConnections(e *Edge, want int) {
	e.T.Helper()
	e.Poll(fmt.Sprintf("%d connections", want), func() bool {
		var got struct{ Connections []Object }
		e.AdminCall("GET", "/pubsub/connections", nil).Decode(e.T, http.StatusOK, &got)
		return len(got.Connections) == want
	})
}

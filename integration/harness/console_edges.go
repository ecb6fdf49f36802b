package harness

import (
	"net/http"
)

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
	e.Do(Call{Method: "GET", URL: e.AdminURL("/pubsub/edges")}).Decode(e.T, http.StatusOK, &list)
	return list.Edges
}

package harness

import (
	"maps"
)

// Limited returns a token for the tenant room whose right also has these fields.
func (e *Edge) Limited(right Object) string {
	e.T.Helper()
	request := TokenRequest(AllowAll("room"))
	maps.Copy(request["right"].(Object), right)
	return e.IssueAs(e.Master, request).Token
}

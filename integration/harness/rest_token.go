package harness

import (
	"time"
)

// IssueExpired returns a token that has expired.
func (e *Edge) IssueExpired() Issued {
	e.T.Helper()
	request := TokenRequest(AllowAll("room"))
	request["right"].(Object)["expires_at"] = In(2 * time.Second)
	got := e.IssueAs(e.Master, request)
	e.Poll("the token to expire", func() bool { return e.Status(e.Master, got.TokenID) == "expired" })
	return got
}

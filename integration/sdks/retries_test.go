package sdks

import (
	"net/http"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// edgeRetryAfter is how long an edge asks clients to wait that it refuses for a while.
const edgeRetryAfter = 5 * time.Second

// refused is a client that has lost its connection, and to which the edge, whose backend can
// say nothing about its token, answers 503.
func refused(s *sdk.Stage, options sdk.Options) (c *sdk.Client, sub *sdk.Sub, token harness.Issued) {
	s.T.Helper()
	e := s.Edges[0]
	token = e.Issue(harness.AllowAll(s.Room))
	options.Token = token.Token
	c = s.Connect(options)
	sub = c.Subscribe(s.Tenant, "n")
	s.Backend.SetDown(token.TokenID, true)
	var done harness.Object
	e.AdminCall("POST", "/pubsub/connections/disconnect", harness.Object{"token_id": token.TokenID}).Decode(s.T, http.StatusOK, &done)
	c.Event("disconnected")
	e.Poll("the client to be refused", func() bool { return len(s.Backend.AskedOf(token.TokenID)) > 1 })
	return c, sub, token
}

// An application that knows better than to wait lets the client try at once. By itself it
// would do so in some days.
func sdkRetries(s *sdk.Stage) {
	const days = 2_000_000_000 // ms, 23 days
	c, sub, token := refused(s, sdk.Options{MinBackOff: days, MaxBackOff: days})
	c.EventThat("reconnecting", func(r sdk.Report) bool { return r.Delay > sdk.InMS(2*harness.WaitTimeout) })
	c.Must(sdk.Command{Cmd: "retry"})
	s.Edges[0].Poll("the client to try again", func() bool { return len(s.Backend.AskedOf(token.TokenID)) > 2 })
	c.EventThat("reconnecting", func(r sdk.Report) bool { return r.Delay > sdk.InMS(2*harness.WaitTimeout) })
	s.Backend.SetDown(token.TokenID, false)
	c.Must(sdk.Command{Cmd: "retry"})
	c.Event("reconnected")
	c.Must(sdk.Command{Cmd: "retry"}) // there is nothing to do
	c.Publish(s.Tenant, "n", "again")
	sub.Want(s.Tenant, "n", "again", "n")
	c.Never("closed", "moving")
	c.Close()
}

// An edge that says how long to wait is left alone for so long, by clients who can hear it.
func sdkRetriesAfter(s *sdk.Stage) {
	c, sub, token := refused(s, sdk.Options{})
	s.Backend.SetDown(token.TokenID, false)
	c.Event("reconnected")
	asked := s.Backend.AskedOf(token.TokenID)
	if pause := asked[2].Sub(asked[1]); pause < edgeRetryAfter && s.Kind.SeesHeaders() {
		s.T.Errorf("the client came again after %v, want %v at least, as the edge has asked", pause, edgeRetryAfter)
	}
	c.Publish(s.Tenant, "n", "again")
	sub.Want(s.Tenant, "n", "again", "n")
	c.Never("closed", "moving")
	c.Close()
}

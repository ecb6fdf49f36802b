package integration

import (
	"net/http"
	"time"
)

// edgeRetryAfter is how long an edge asks clients to wait that it refuses for a while.
const edgeRetryAfter = 5 * time.Second

// refused is a client that has lost its connection, and to which the edge, whose backend can
// say nothing about its token, answers 503.
func (s *sdkStage) refused(options sdkOptions) (c *sdkClient, sub *sdkSub, token issued) {
	s.t.Helper()
	e := s.edges[0]
	token = e.issue(allowAll(s.room))
	options.Token = token.Token
	c = s.connect(options)
	sub = c.subscribe(s.tenant, "n")
	s.backend.setDown(token.TokenID, true)
	var done object
	e.adminCall("POST", "/pubsub/connections/disconnect", object{"token_id": token.TokenID}).decode(s.t, http.StatusOK, &done)
	c.event("disconnected")
	e.poll("the client to be refused", func() bool { return len(s.backend.askedOf(token.TokenID)) > 1 })
	return c, sub, token
}

// An application that knows better than to wait lets the client try at once. By itself it
// would do so in some days.
func sdkRetries(s *sdkStage) {
	const days = 2_000_000_000 // ms, 23 days
	c, sub, token := s.refused(sdkOptions{MinBackOff: days, MaxBackOff: days})
	c.eventThat("reconnecting", func(r sdkReport) bool { return r.Delay > inMS(2*waitTimeout) })
	c.must(sdkCommand{Cmd: "retry"})
	s.edges[0].poll("the client to try again", func() bool { return len(s.backend.askedOf(token.TokenID)) > 2 })
	c.eventThat("reconnecting", func(r sdkReport) bool { return r.Delay > inMS(2*waitTimeout) })
	s.backend.setDown(token.TokenID, false)
	c.must(sdkCommand{Cmd: "retry"})
	c.event("reconnected")
	c.must(sdkCommand{Cmd: "retry"}) // there is nothing to do
	c.publish(s.tenant, "n", "again")
	sub.want(s.tenant, "n", "again", "n")
	c.never("closed", "moving")
	c.close()
}

// An edge that says how long to wait is left alone for so long, by clients who can hear it.
func sdkRetriesAfter(s *sdkStage) {
	c, sub, token := s.refused(sdkOptions{})
	s.backend.setDown(token.TokenID, false)
	c.event("reconnected")
	asked := s.backend.askedOf(token.TokenID)
	if pause := asked[2].Sub(asked[1]); pause < edgeRetryAfter && s.kind.seesHeaders() {
		s.t.Errorf("the client came again after %v, want %v at least, as the edge has asked", pause, edgeRetryAfter)
	}
	c.publish(s.tenant, "n", "again")
	sub.want(s.tenant, "n", "again", "n")
	c.never("closed", "moving")
	c.close()
}

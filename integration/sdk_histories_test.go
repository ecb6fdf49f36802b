package integration

import (
	"net/http"
	"strconv"
)

// historyLast and historyAfter are forms of the option history.
type (
	historyLast struct {
		Last int `json:"last"`
	}
	historyAfter struct {
		After string `json:"after"`
	}
)

// confirm publishes a message, and returns its position.
func (c *sdkClient) confirm(tenant, channel, payload, key string) string {
	c.t.Helper()
	return c.must(sdkCommand{Cmd: "publish", Tenant: tenant, Channel: channel, Payload: []byte(payload), Confirm: true, Key: key}).Position
}

// from subscribes with a history.
func (c *sdkClient) from(history any, tenant, pattern string) *sdkSub {
	c.t.Helper()
	return c.subscribeAs("iterate", tenant, pattern, &sdkOptions{History: history})
}

// wantStored requires the messages whose payloads are the numbers from first on, with these
// positions.
func (s *sdkSub) wantStored(first int, positions ...string) {
	s.c.t.Helper()
	for i, position := range positions {
		if r := s.next(); string(r.Payload) != strconv.Itoa(first+i) || r.Position != position {
			s.c.t.Fatalf("%s: got %q at %s, want %d at %s", s.c.kind, r.Payload, r.Position, first+i, position)
		}
	}
}

// What an edge keeps, through losses of the connection, moves and new clients: each message
// once and in order, or a gap is told.
func sdkHistories(s *sdkStage) {
	e, channel := s.edges[0], "chat."+s.room
	past := e.issue(allowHistory(s.room))
	publisher, c := s.connect(sdkOptions{}), s.connect(sdkOptions{Token: past.Token})
	var at []string
	publish := func(n int) {
		for range n {
			text := strconv.Itoa(len(at))
			at = append(at, publisher.confirm(s.tenant, channel, text, "key "+text))
		}
	}
	publish(5)
	if again := publisher.confirm(s.tenant, channel, "another", "key 4"); again != at[4] {
		s.t.Errorf("a repeated key: got the position %s, want %s", again, at[4])
	}
	if position := publisher.confirm(s.tenant, "other", "x", ""); position != "" {
		s.t.Errorf("a channel that is not kept: got the position %s", position)
	}
	if _, err := publisher.try(sdkCommand{Cmd: "publish", Tenant: s.tenant, Channel: "other", Confirm: true, Key: "k"}); err.ErrorCode() != "no_history" {
		s.t.Errorf("a key on a channel that is not kept: %v, want no_history", err)
	}

	sub := c.from(historyLast{3}, s.tenant, channel)
	sub.wantStored(2, at[2:]...)
	publish(2)
	sub.wantStored(5, at[5:]...)

	// The connection is lost.
	var done object
	e.adminCall("POST", "/pubsub/connections/disconnect", object{"token_id": past.TokenID}).decode(s.t, http.StatusOK, &done)
	c.event("disconnected")
	publish(20)
	sub.wantStored(7, at[7:]...)
	if r := c.event("reconnected"); !r.Complete {
		s.t.Errorf("got %v, want that nothing is missing", r)
	}
	if r := c.must(sdkCommand{Cmd: "position", Sub: sub.name}); r.Position != at[len(at)-1] {
		s.t.Errorf("the subscription is at %s, want %s", r.Position, at[len(at)-1])
	}

	// Another client goes on behind a position, and gets what it has no room for later.
	other := s.connect(sdkOptions{Token: past.Token})
	held := other.subscribeAs("held", s.tenant, "chat.#", &sdkOptions{History: historyAfter{at[1]}, Queue: 4})
	publish(1)
	held.read()
	held.wantStored(2, at[2:]...)
	newest := other.from("last", s.tenant, "chat.*")
	newest.wantStored(len(at)-1, at[len(at)-1])
	other.never("gap", "queueFull", "disconnected")

	// Without the right to the past it goes on from now on, and tells of a gap.
	present := s.connect(sdkOptions{})
	now := present.from(historyLast{3}, s.tenant, channel)
	if r := present.event("gap"); r.Tenant != s.tenant || r.Pattern != channel {
		s.t.Errorf("got %v", r)
	}
	publish(1)
	now.wantStored(len(at)-1, at[len(at)-1])

	// A position of another store.
	lost := s.connect(sdkOptions{Token: past.Token})
	all := lost.from(historyAfter{"00000000000000ff.1.1"}, s.tenant, channel)
	all.wantStored(0, at...)
	lost.event("gap")
	if _, err := lost.trySubscribe("iterate", s.tenant, "#", &sdkOptions{History: "now"}); err.ErrorCode() != "no_history" {
		s.t.Errorf("a pattern that no history contains: %v, want no_history", err)
	}
	c.never("gap")
	sdkTooLarge(s)
}

// A publish over the edge's read limit costs the connection, is refused, and is not repeated.
func sdkTooLarge(s *sdkStage) {
	c, channel := s.connect(sdkOptions{}), "chat."+s.room
	if _, err := c.try(sdkCommand{Cmd: "publish", Tenant: s.tenant, Channel: channel, Payload: make([]byte, 200_000), Confirm: true, Key: "large"}); err.ErrorCode() != "payload_too_large" {
		s.t.Errorf("a confirmed publish over the read limit: %v, want payload_too_large", err)
	}
	c.confirm(s.tenant, channel, "after it", "after it")
}

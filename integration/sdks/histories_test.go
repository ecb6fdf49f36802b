package sdks

import (
	"net/http"
	"strconv"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// What an edge keeps, through losses of the connection, moves and new clients: each message
// once and in order, or a gap is told.
func sdkHistories(s *sdk.Stage) {
	e, channel := s.Edges[0], "chat."+s.Room
	past := e.Issue(history.AllowHistory(s.Room))
	publisher, c := s.Connect(sdk.Options{}), s.Connect(sdk.Options{Token: past.Token})
	var at []string
	publish := func(n int) {
		for range n {
			text := strconv.Itoa(len(at))
			at = append(at, publisher.Confirm(s.Tenant, channel, text, "key "+text))
		}
	}
	publish(5)
	if again := publisher.Confirm(s.Tenant, channel, "another", "key 4"); again != at[4] {
		s.T.Errorf("a repeated key: got the position %s, want %s", again, at[4])
	}
	if position := publisher.Confirm(s.Tenant, "other", "x", ""); position != "" {
		s.T.Errorf("a channel that is not kept: got the position %s", position)
	}
	if _, err := publisher.Try(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "other", Confirm: true, Key: "k"}); err.ErrorCode() != "no_history" {
		s.T.Errorf("a key on a channel that is not kept: %v, want no_history", err)
	}

	sub := c.From(history.Last{Last: 3}, s.Tenant, channel)
	sub.WantStored(2, at[2:]...)
	publish(2)
	sub.WantStored(5, at[5:]...)

	// The connection is lost.
	var done harness.Object
	e.AdminCall("POST", "/pubsub/connections/disconnect", harness.Object{"token_id": past.TokenID}).Decode(s.T, http.StatusOK, &done)
	c.Event("disconnected")
	publish(20)
	sub.WantStored(7, at[7:]...)
	if r := c.Event("reconnected"); !r.Complete {
		s.T.Errorf("got %v, want that nothing is missing", r)
	}
	if r := c.Must(sdk.Command{Cmd: "position", Sub: sub.Name}); r.Position != at[len(at)-1] {
		s.T.Errorf("the subscription is at %s, want %s", r.Position, at[len(at)-1])
	}

	// Another client goes on behind a position, and gets what it has no room for later.
	other := s.Connect(sdk.Options{Token: past.Token})
	held := other.SubscribeAs("held", s.Tenant, "chat.#", &sdk.Options{History: history.After{After: at[1]}, Queue: 4})
	publish(1)
	held.Read()
	held.WantStored(2, at[2:]...)
	newest := other.From("last", s.Tenant, "chat.*")
	newest.WantStored(len(at)-1, at[len(at)-1])
	other.Never("gap", "queueFull", "disconnected")

	// Without the right to the past it goes on from now on, and tells of a gap.
	present := s.Connect(sdk.Options{})
	now := present.From(history.Last{Last: 3}, s.Tenant, channel)
	if r := present.Event("gap"); r.Tenant != s.Tenant || r.Pattern != channel {
		s.T.Errorf("got %v", r)
	}
	publish(1)
	now.WantStored(len(at)-1, at[len(at)-1])

	// A position of another store.
	lost := s.Connect(sdk.Options{Token: past.Token})
	all := lost.From(history.After{After: "00000000000000ff.1.1"}, s.Tenant, channel)
	all.WantStored(0, at...)
	lost.Event("gap")
	if _, err := lost.TrySubscribe("iterate", s.Tenant, "#", &sdk.Options{History: "now"}); err.ErrorCode() != "no_history" {
		s.T.Errorf("a pattern that no history contains: %v, want no_history", err)
	}
	c.Never("gap")
	sdkTooLarge(s)
}

// A publish over the edge's read limit costs the connection, is refused, and is not repeated.
func sdkTooLarge(s *sdk.Stage) {
	c, channel := s.Connect(sdk.Options{}), "chat."+s.Room
	if _, err := c.Try(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: channel, Payload: make([]byte, 200_000), Confirm: true, Key: "large"}); err.ErrorCode() != "payload_too_large" {
		s.T.Errorf("a confirmed publish over the read limit: %v, want payload_too_large", err)
	}
	c.Confirm(s.Tenant, channel, "after it", "after it")
}

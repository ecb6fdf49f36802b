package sdk

import (
	"strconv"
)

// Confirm publishes a message, and returns its position.
func (c *Client) Confirm(tenant, channel, payload, key string) string {
	c.T.Helper()
	return c.Must(Command{Cmd: "publish", Tenant: tenant, Channel: channel, Payload: []byte(payload), Confirm: true, Key: key}).Position
}

// From subscribes with a history.
func (c *Client) From(history any, tenant, pattern string) *Sub {
	c.T.Helper()
	return c.SubscribeAs("iterate", tenant, pattern, &Options{History: history})
}

// WantStored requires the messages whose payloads are the numbers from first on, with these
// positions.
func (s *Sub) WantStored(first int, positions ...string) {
	s.C.T.Helper()
	for i, position := range positions {
		if r := s.Next(); string(r.Payload) != strconv.Itoa(first+i) || r.Position != position {
			s.C.T.Fatalf("%s: got %q at %s, want %d at %s", s.C.Kind, r.Payload, r.Position, first+i, position)
		}
	}
}

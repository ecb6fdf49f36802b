package sdk

import ()

// An sdkWatch is a presence of a client. Its methods are like the client's.
type Watch struct {
	C       *Client
	Name    string
	Changes *Mailbox // and the end
	Shown   []string // "channel/subject" of the members that it was told of, sorted; or "channel:count"
}

// Join joins a channel; the membership has the name of its channel, and suffix.
func (c *Client) Join(tenant, channel, suffix string) {
	c.T.Helper()
	c.Must(Command{Cmd: "join", Member: channel + suffix, Tenant: tenant, Channel: channel})
}

// Leave undoes join.
func (c *Client) Leave(member string) {
	c.T.Helper()
	c.Must(Command{Cmd: "leave", Member: member})
	if r := c.EventThat("membershipEnded", func(r Report) bool { return r.Member == member }); r.Error != nil {
		c.T.Errorf("%s: the membership ended with %v", c.Kind, r.Error)
	}
}

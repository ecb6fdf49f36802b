package client

import "context"

// Tenant is a client within one tenant, whose name need not be repeated. Its methods are those of [Client],
// and safe for concurrent use.
type Tenant struct {
	client *Client
	name   string
}

// Tenant returns the client within a tenant, such as paint.room; an empty one is "~". It checks nothing: the
// calls do.
func (c *Client) Tenant(name string) *Tenant { return &Tenant{c, name} }

// Subscribe is [Client.Subscribe].
func (t *Tenant) Subscribe(ctx context.Context, pattern string, opts ...SubscribeOption) (*Subscription, error) {
	return t.client.Subscribe(ctx, t.name, pattern, opts...)
}

// SubscribeFunc is [Client.SubscribeFunc].
func (t *Tenant) SubscribeFunc(ctx context.Context, pattern string, f func(Message), opts ...SubscribeOption) (*Subscription, error) {
	return t.client.SubscribeFunc(ctx, t.name, pattern, f, opts...)
}

// Publish is [Client.Publish].
func (t *Tenant) Publish(ctx context.Context, channel string, payload []byte) error {
	return t.client.Publish(ctx, t.name, channel, payload)
}

// PublishTo is [Client.PublishTo].
func (t *Tenant) PublishTo(ctx context.Context, d Delivery, channel string, payload []byte) error {
	return t.client.PublishTo(ctx, d, t.name, channel, payload)
}

// PublishConfirmed is [Client.PublishConfirmed].
func (t *Tenant) PublishConfirmed(ctx context.Context, channel string, payload []byte, opts ...PublishOption) (position string, err error) {
	return t.client.PublishConfirmed(ctx, t.name, channel, payload, opts...)
}

// Join is [Client.Join].
func (t *Tenant) Join(ctx context.Context, channel string) (*Membership, error) {
	return t.client.Join(ctx, t.name, channel)
}

// Presence is [Client.Presence].
func (t *Tenant) Presence(ctx context.Context, pattern string, opts ...PresenceOption) (*Presence, error) {
	return t.client.Presence(ctx, t.name, pattern, opts...)
}

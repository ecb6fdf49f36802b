//go:build !linux

package websocket

// ClientGone implements [pubsub.Watcher]. On these systems, a ping that cannot be
// written shows it later.
func (*connection) ClientGone() bool { return false }

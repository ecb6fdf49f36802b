//go:build !linux

package websocket

// ClientGone implements [pubsub.Watcher]. A ping that cannot be written says it
// here, later.
func (*connection) ClientGone() bool { return false }

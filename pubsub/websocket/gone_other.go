//go:build !linux

package websocket

import "net"

// ClientGone implements [pubsub.Watcher]. On these systems, a ping that cannot be
// written shows it later.
func (*connection) ClientGone() bool { return false }

// limitUnsent does nothing: on these systems, the kernel takes as much of a connection as it likes.
func limitUnsent(net.Conn) {}

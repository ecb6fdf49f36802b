// Package edgetest runs an edge inside a test: hub, token store, REST API, WebSocket and
// WebTransport, without a process, a port or a file. Clients of package client connect to it
// in memory.
//
// In a bubble of [testing/synctest] the edge has virtual time: an hour in which a token
// expires, a client goes silent or a history forgets takes a millisecond, and nothing
// happens between two events. Outside of one it works with the clock of the machine.
//
//	func TestOrders(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			edge := edgetest.New(t)
//			token := edge.Token(edgetest.Publish("orders.*"), edgetest.Subscribe("orders.*"))
//			shop := edge.Client(token)
//			...
//			time.Sleep(time.Hour) // the token expires
//			<-shop.Done()
//		})
//	}
//
// What is there, and what is not: clients are admitted by the rules of a real edge, with the
// limits of [pubsub.DefaultLimits] (8 KB/s for each connection among them) and all limits of
// time. The network delivers at once and loses nothing. The token of a handshake has to be
// in the header Authorization. There is no Caddy: no metrics, no console, no admin endpoint,
// and no certificates but [Edge.TLS].
//
// # Goroutines
//
// Those of an edge and of its clients are started by [New] and [Edge.Client], and have ended
// when the functions that these give to t.Cleanup have returned: a bubble may end then.
package edgetest

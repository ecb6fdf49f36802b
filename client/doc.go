// Package client is the Go SDK of Millrace. It publishes and subscribes over
// WebTransport or WebSocket, restores its connection when it is lost, and moves to
// another edge without loss when one drains. docs/reference/go.md lists its options,
// methods, events and errors; docs/protocol.md is what it speaks.
//
// # Connect
//
//	c, err := client.Connect(ctx, []string{"https://edge.example.com"}, client.Options{Token: token})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//
// Several addresses, or that of a list of edges (https://edge.example.com/edges),
// let the client choose the nearest edge and go to the next one when it fails.
// WebTransport is tried first, and WebSocket where that does not come up.
//
// # Subscribe
//
// A subscription is a channel, or a function that is called:
//
//	sub, err := c.Subscribe(ctx, "paint.room", "news.#")
//	for m := range sub.Messages() {
//		fmt.Printf("%s: %s\n", m.Channel, m.Payload)
//	}
//	return sub.Err()
//
// Each has a bounded queue. When the application reads too slowly, the oldest
// messages are dropped and [QueueFull] says how many; see [QueuePolicy] and
// [WithQueue].
//
// # Publish
//
// [Client.Publish] hands the message over and returns; an edge acknowledges no
// publish. A refusal comes as the event [PublishError]. [Client.Flush] waits until
// the edge has handled all that was sent. Without a connection a publish fails at
// once with [ErrDisconnected]: nothing is stored. [Client.PublishConfirmed] with a
// key waits for the next connection.
//
// # Histories
//
// An edge may keep messages. [WithHistory] begins with them, and goes on where it was after
// each loss of the connection, and after a restart:
//
//	sub, err := c.Subscribe(ctx, "paint.room", "news.#", client.WithHistory(client.After(saved)))
//	for m := range sub.Messages() {
//		…
//		saved = m.Position
//	}
//
// Either nothing is missing, or the event [Gap] says so. [Client.PublishConfirmed] returns
// the position at which the edge has stored a message.
//
// # Presence
//
// [Client.Join] makes the subject of the client's token a member of a channel, and
// [Client.Presence] shows who is:
//
//	m, err := c.Join(ctx, "paint.room", "room.1")
//	p, err := c.Presence(ctx, "paint.room", "room.*")
//	for _, member := range p.Members() {
//		fmt.Println(member.Channel, member.Subject)
//	}
//	for {
//		change, err := p.Next(ctx) // joined, left, changed
//		…
//	}
//
// Both go on after each loss of the connection: a reconnect does not show as leaving.
//
// # Connections come and go
//
// [Options].OnEvent hears of everything that happens to the connection:
//
//	OnEvent: func(e client.Event) {
//		switch e := e.(type) {
//		case client.Disconnected:
//			log.Printf("lost %s: %v", e.Edge, e.Err)
//		case client.Reconnected:
//			log.Printf("back on %s after %v", e.Edge, e.Away)
//		case client.Suspect:
//			log.Printf("%s does not answer", e.Edge)
//		case client.Recovered:
//			log.Printf("%s answers", e.Edge)
//		case client.PublishError:
//			log.Printf("%s: %s", e.Channel, e.Code)
//		}
//	},
//
// The client goes on until [Client.Close], or until something happens that another
// attempt does not mend, such as a revoked token: then [Client.Done] is closed and
// [Client.Err] says why. Messages that were published while it was away are lost to
// subscriptions without a history, those that come while it moves are not.
//
// A connection on which nothing comes, where something should, is suspect: the client
// opens another one beside it, and goes on with the one that works first. What the
// replaced one brings afterwards has [Message].Late set, as newer messages may have come
// before. After the machine slept, and when its network changes, the client asks at once
// whether its connection lives. A client on WebSocket that prefers WebTransport tries
// that again every few minutes, and moves to it.
//
// # Tokens
//
// A token ends, and the connection with it. [Options].TokenProvider gives the next
// one in time, and the client moves to it without loss. On a backend, [TokenAdmin]
// issues tokens.
//
// # Errors
//
// Every error of this package is an [*Error] with a [Code], which the sentinels
// compare:
//
//	if errors.Is(err, client.ErrPermissionDenied) { … }
package client

// Package tokenstore holds the credentials of the edge and the rules about
// them: master tokens, with which a backend administers access tokens, and
// access tokens, which clients present on a socket.
//
// A [Service] knows the rules: who may issue what, what a token permits, when
// it ends. A [Store] keeps records durably and knows no rules. Several
// Services may share one Store: during a configuration reload the old and the
// new one do.
//
// Secrets leave the package once, when a token is minted. Only the SHA-256 of
// the secret is stored, and no error, event or explanation of this package
// contains a token. Source: docs/protocol.md, REST and Secrets.
//
// # Lock order
//
// A Store calls its watchers while it holds its own locks, and the [Index] is a
// watcher: so the locks of a Store come before Index.mu, and the Index never calls
// the Store while it holds Index.mu. All other locks of this package are leaves:
// the mutexes of accessCache, callLimiter and [Watchers] are held for no call to
// other code. In particular, [Watchers.Notify] calls the watch functions after it
// has released its mutex.
package tokenstore

// Package tokenstore holds the credentials of the edge and the rules about
// them: master tokens, which a backend uses to administer access tokens, and
// access tokens, which clients present on a socket.
//
// A [Service] knows the rules: who may issue what, what a token permits, when
// it ends. A [Store] keeps records durably and knows no rules. Several
// Services may share one Store: during a configuration reload the old and the
// new one do.
//
// Secrets leave the package once, when a token is minted. What is stored is
// the SHA-256 of the secret, and no error, event or explanation of this
// package contains a token. Source: docs/protocol.md, REST and Secrets.
package tokenstore

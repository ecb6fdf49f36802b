// Package console is the handler `pubsub_console`: one embedded page on which operators
// administer an edge and those that it is joined with, and the API of that page.
//
// # Who gets in
//
// Operators have names and password hashes in the configuration, or come through one of
// Caddy's own authentications in front (operators.go). A login makes a session (sessions.go),
// whose key is in a cookie that no script can read and, hashed, in the memory of this
// process: it outlives reloads that keep its operator, and no restart. Logins are limited by
// address and by name, and the work of checking passwords has a bound of its own (logins.go).
//
// # What every request must be
//
// Over TLS, or between two ends on this machine by one of its own names (origin.go). Those
// that change something must come from the page itself. Whoever gets in is a viewer or a
// manager; access.go says which call needs which.
//
// # What the page shows
//
// The calls are those of package operate; session.go and live.go add what only the console
// has. The page's sources are in the folder console of the repository; files.go serves what
// they are bundled to.
package console

// Package sessions tests what only one of the transports has.
package sessions

// Package presence tests who is said to be in a channel.
package presence

// Package operations tests what operators see and do: metrics, hooks, commands.
package operations

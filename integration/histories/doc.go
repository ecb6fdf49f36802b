// Package histories tests histories: over edges, killed edges, and lost copies.
package histories

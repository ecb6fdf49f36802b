// Package badger keeps token records in an embedded Badger database: the store
// of a single edge. A write is acknowledged when it is on disk, so it survives
// kill -9 and power loss.
package badger

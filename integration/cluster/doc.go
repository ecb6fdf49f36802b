// Package cluster tests edges that share a broker, their faults and their upgrades.
package cluster

// Package diskspace says how much this process may still write to a file system.
package diskspace

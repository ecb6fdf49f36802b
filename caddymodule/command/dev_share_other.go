//go:build !unix || freebsd || solaris

package command

import "syscall"

// sharePort is nil: listeners here share no port.
var sharePort func(network, address string, conn syscall.RawConn) error
